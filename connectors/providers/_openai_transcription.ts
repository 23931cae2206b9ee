/**
 * Speech to text in OpenAI's dialect.
 *
 * Source: OpenAI REST API reference, `POST /audio/transcriptions` and `/audio/translations`, document version 2.3.0.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationResponse } from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { findTranscriptType } from "../../src/util/audio_format.ts";
import { parseObject, readBytes, throwIfError } from "./_http.ts";
import type { Post } from "./_openai_vendor.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

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
  const given = response.headers.get("content-type") ?? "";
  const text = decoder.decode(wire);
  if (/html/.test(given)) throw createTranscriptFault("a web page");
  if (type === undefined) return { body: completeTranscript(parseObject(text)), wire };
  if (!/json/.test(given)) return { body: { text }, content: { type, bytes: wire } };
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
