/**
 * Responses that are sound, passed on as they arrive.
 * @module
 */
import type { ResponseContent } from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { readObject } from "./_base.ts";
import { streamReaderOf, throwIfError } from "./_http.ts";

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
  return { type: isNamed ? given : type, bytes: chunksOf(response) };
}

async function* chunksOf(response: UpstreamResponse): AsyncGenerator<Uint8Array> {
  const reader = streamReaderOf(response);
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isOver) await reader.cancel().catch(() => {});
  }
}
