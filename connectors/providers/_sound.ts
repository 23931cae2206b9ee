/**
 * Responses that are sound, passed on as they arrive.
 * @module
 */
import type { ResponseContent } from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { bytesOf } from "./_response_bytes.ts";
import { readObject } from "./_base.ts";
import { throwIfError } from "./_http.ts";

/**
 * The sound that a provider sends.
 *
 * @param response No error by its status.
 * @param type The media type asked for, where the response names none.
 * @throws {UpstreamError} `invalid_response` for JSON or a web page in place of sound, or the error that is in it.
 */
export async function soundOf(response: UpstreamResponse, type: string): Promise<ResponseContent> {
  const given = response.headers.get("content-type") ?? "";
  if (/json|html/.test(given)) {
    throwIfError(await readObject(response));
    throw new UpstreamError("The provider answered with JSON in place of sound", { kind: "invalid_response" });
  }
  const isNamed = /^(audio\/|text\/event-stream)/.test(given);
  return { type: isNamed ? given : type, bytes: bytesOf(response) };
}
