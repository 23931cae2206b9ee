/**
 * Images, speech and transcripts in OpenAI's dialect.
 *
 * Source: OpenAI REST API reference, document version 2.3.0: `POST /images/generations`, `/images/edits`,
 * `/audio/speech`, `/audio/transcriptions` and `/audio/translations`.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationResponse } from "../../src/contracts/provider.ts";
import type { Clock, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { findTranscriptType, getSoundType } from "../../src/util/audio_format.ts";
import { isObject } from "../../src/util/is_object.ts";
import { readAudio } from "./_audio.ts";
import { parseObject, readBytes, throwIfError } from "./_http.ts";
import type { Post, VendorOperation } from "./_openai_vendor.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/**
 * Image operations of a vendor that accepts OpenAI's requests.
 *
 * @param path Path relative to the vendor's base URL.
 */
export function imagesAt(path: string): VendorOperation {
  return (post, { clock }) => async (request, options) => {
    const wire = await readBytes(await post(path, request, options));
    return imagesIn(parseObject(decoder.decode(wire)), { clock, wire });
  };
}

/**
 * The images of a response. Null members are removed and the creation time is filled in, for vendors that deviate from
 * OpenAI's shape.
 *
 * @param context The clock, and the bytes of the response.
 * @throws {UpstreamError} `invalid_response` if it has no images.
 */
export function imagesIn(
  body: JsonObject,
  { clock, wire }: { readonly clock: Clock; readonly wire?: Uint8Array },
): OperationResponse {
  throwIfError(body);
  const { data, created } = body;
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  if (
    !Array.isArray(data) || !data.every((image) => isObject(image) && (isText(image.url) || isText(image.b64_json)))
  ) {
    throw new UpstreamError("The provider's response has no images", { kind: "invalid_response" });
  }
  const isComplete = Number.isInteger(created) && !data.some((image) => Object.values(image).includes(null));
  if (isComplete && wire !== undefined) return { body, wire };
  return {
    body: {
      ...body,
      created: Number.isInteger(created) ? created : Math.floor(clock.now() / 1000),
      data: data.map((image) => Object.fromEntries(Object.entries(image).filter(([, value]) => value !== null))),
    },
  };
}

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

/**
 * Transcription by a vendor with OpenAI's `POST /audio/transcriptions`.
 *
 * @param post Posts to the vendor.
 */
export function transcriptionBy(post: Post): OperationCall {
  return transcriptsAt("audio/transcriptions", post);
}

/**
 * Translation by a vendor with OpenAI's `POST /audio/translations`.
 *
 * @param post Posts to the vendor.
 */
export function audioTranslationBy(post: Post): OperationCall {
  return transcriptsAt("audio/translations", post);
}

function transcriptsAt(path: string, post: Post): OperationCall {
  return async (request, options) => {
    const { response_format: format } = request.body;
    const type = findTranscriptType(typeof format === "string" ? format : "json");
    return await transcriptIn(await post(path, request, options), type);
  };
}

/** The transcript as text if text was requested; some servers return JSON nevertheless. */
async function transcriptIn(response: UpstreamResponse, type: string | undefined): Promise<OperationResponse> {
  const wire = await readBytes(response);
  const contentType = response.headers.get("content-type") ?? "";
  const text = decoder.decode(wire);
  if (/html/.test(contentType)) throw createTranscriptFault("a web page");
  if (type === undefined) return { body: completeTranscript(parseObject(text)), wire };
  if (!/json/.test(contentType)) return { body: { text }, content: { type, bytes: wire } };
  const body = text.startsWith('"') ? { text: stringIn(text) } : completeTranscript(parseObject(text));
  if (!type.startsWith("text/plain") && !/-->/.test(body.text as string)) throw createTranscriptFault("no subtitles");
  return { body, content: { type, bytes: new TextEncoder().encode(body.text as string) } };
}

function stringIn(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    throw createTranscriptFault("invalid JSON");
  }
}

function completeTranscript(body: JsonObject): JsonObject {
  throwIfError(body);
  if (typeof body.text !== "string") throw createTranscriptFault("no transcript");
  return body;
}

function createTranscriptFault(what: string): UpstreamError {
  return new UpstreamError(`The provider responded with ${what}`, { kind: "invalid_response" });
}
