/**
 * Conversions between streamed bodies and Streams of the platform.
 * @module
 */
import type { PlainResponse, PlainStream } from "../contracts/shell.ts";

const encoder = new TextEncoder();

export function isStream(body: PlainResponse["body"]): body is PlainStream {
  return typeof body === "object" && body !== null && "read" in body;
}

/** Converts a body to a `ReadableStream` without read-ahead. */
export function toReadable(body: PlainStream): ReadableStream<Uint8Array> {
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
        // the stream was cancelled while the chunk was being read
      }
    },
    cancel: () => body.cancel(),
  }, { highWaterMark: 0 });
}

/** Converts a `ReadableStream` to a body. */
export function toPlainStream(body: ReadableStream<Uint8Array>): PlainStream {
  const reader = body.getReader();
  return {
    read: async () => (await reader.read()).value,
    cancel: () => void reader.cancel().catch(() => {}), // rejects if the stream has failed
  };
}
