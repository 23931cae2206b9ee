/**
 * Audio responses, streamed.
 * @module
 */
import type { ResponseContent } from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { streamResponseBytes } from "./_response_bytes.ts";
import { readJsonObject } from "./_base.ts";
import { throwIfError } from "./_http.ts";

/**
 * The audio of a response.
 *
 * @param response A response with a success status.
 * @param type The requested media type, used if the response has none.
 * @throws {UpstreamError} `invalid_response` for JSON or HTML instead of audio, or the error that it contains.
 */
export async function readAudio(response: UpstreamResponse, type: string): Promise<ResponseContent> {
  const contentType = response.headers.get("content-type") ?? "";
  if (/json|html/.test(contentType)) {
    throwIfError(await readJsonObject(response));
    throw new UpstreamError("The provider responded with JSON instead of audio", { kind: "invalid_response" });
  }
  const isNamed = /^(audio\/|text\/event-stream)/.test(contentType);
  return { type: isNamed ? contentType : type, bytes: streamResponseBytes(response) };
}
