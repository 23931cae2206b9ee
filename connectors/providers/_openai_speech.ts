/**
 * Text to speech in OpenAI's dialect.
 *
 * Source: OpenAI REST API reference, `POST /audio/speech`, document version 2.3.0.
 * @module
 */
import type { OperationCall } from "../../src/contracts/provider.ts";
import { getSoundType } from "../../src/util/audio_format.ts";
import type { Post } from "./_openai_vendor.ts";
import { readAudio } from "./_audio.ts";

/**
 * Text to speech by a vendor with OpenAI's `POST /audio/speech`.
 *
 * @param post Posts to the vendor.
 */
export function speechBy(post: Post): OperationCall {
  return async (request, options) => {
    const { response_format: format, stream_format: form } = request.body;
    const type = form === "sse" ? "text/event-stream" : getSoundType(typeof format === "string" ? format : "mp3");
    return { body: {}, content: await readAudio(await post("audio/speech", request, options), type) };
  };
}
