/**
 * Bodies that arrive in chunks.
 * @module
 */
import type { PlainResponse, PlainStream } from "../contracts/shell.ts";

const encoder = new TextEncoder();

export function isStream(body: PlainResponse["body"]): body is PlainStream {
  return typeof body === "object" && body !== null && "read" in body;
}

/** Converts a body to a stream that reads nothing ahead. */
export function readableOf(body: PlainStream): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      body.onStop = (reason) => controller.error(reason);
    },
    async pull(controller) {
      const chunk = await body.read();
      try {
        if (chunk === undefined) return controller.close();
        controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      } catch {
        // the client left while the chunk was on its way: cancel() was called
      }
    },
    cancel: () => body.cancel(),
  }, { highWaterMark: 0 });
}

/** Converts a stream to a body. */
export function plainStreamOf(body: ReadableStream<Uint8Array>): PlainStream {
  const reader = body.getReader();
  return {
    read: async () => (await reader.read()).value,
    cancel: () => void reader.cancel().catch(() => {}), // a body that is over cannot be cancelled
  };
}
