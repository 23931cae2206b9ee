/**
 * Binary response bodies.
 * @module
 */
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { createStreamReader } from "./_http.ts";

/**
 * Streams the bytes of a response.
 *
 * @param response A response with a success status.
 */
export async function* streamResponseBytes(response: UpstreamResponse): AsyncGenerator<Uint8Array> {
  const reader = createStreamReader(response);
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isOver) await reader.cancel().catch(() => {}); // cancelling closes the connection
  }
}
