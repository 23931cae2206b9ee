/**
 * Responses that are neither JSON nor events.
 * @module
 */
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { streamReaderOf } from "./_http.ts";

/**
 * The bytes of a response, passed on as they arrive.
 *
 * @param response No error by its status.
 */
export async function* bytesOf(response: UpstreamResponse): AsyncGenerator<Uint8Array> {
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
    if (!isOver) await reader.cancel().catch(() => {}); // the connection ends with it
  }
}
