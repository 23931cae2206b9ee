/**
 * ElevenLabs' requests.
 *
 * Source: elevenlabs.io/docs/api-reference, `POST /text-to-speech/{voice_id}/stream`.
 * @module
 */
import type { OperationCall } from "../../src/contracts/provider.ts";
import { soundTypeOf } from "../../src/util/audio_format.ts";
import { leftOutBeside } from "./_left_out.ts";
import type { Post } from "./_openai_vendor.ts";
import { soundOf } from "./_sound.ts";

/** Each format that all plans have, in the sample rate that OpenAI's API has it in. */
const formats: Readonly<Record<string, string>> = { mp3: "mp3_44100_128", pcm: "pcm_24000" };
const carried: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "input", "voice", "response_format", "speed", "stream_format"],
]);

/**
 * Speech.
 *
 * @param post Posts to the vendor.
 */
export function elevenLabsSpeech(post: Post): OperationCall {
  return async (request, options) => {
    const { body, model } = request;
    const left = leftOutBeside(body, carried);
    if (left.length > 0) options.reportDropped?.(left);
    const format = typeof body.response_format === "string" ? body.response_format : "mp3";
    const path = `text-to-speech/${encodeURIComponent(String(body.voice))}/stream?output_format=${
      formats[format] ?? format
    }`;
    const settings = typeof body.speed === "number" ? { voice_settings: { speed: body.speed } } : {};
    const json = { text: body.input, model_id: model.id, ...settings };
    const response = await post(path, { ...request, json }, options);
    return { body: {}, content: await soundOf(response, soundTypeOf(format)) };
  };
}
