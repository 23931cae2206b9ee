/**
 * Bodies that come piece by piece.
 * @module
 */
import type { PlainResponse, PlainStream } from "../contracts/shell.ts";

const encoder = new TextEncoder();

/** Whether a body comes piece by piece. */
export function isStream(body: PlainResponse["body"]): body is PlainStream {
  return typeof body === "object" && body !== null && "read" in body;
}

/** The same as a stream of the Streams standard; nothing is read ahead of who reads it. */
export function readableOf(body: PlainStream): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      body.onStop = (reason) => controller.error(reason);
    },
    async pull(controller) {
      const piece = await body.read();
      try {
        if (piece === undefined) return controller.close();
        controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
      } catch {
        // the client left while the piece was on its way: cancel() has been told
      }
    },
    cancel: () => body.cancel(),
  }, { highWaterMark: 0 });
}

/** The same the other way round. */
export function plainStreamOf(body: ReadableStream<Uint8Array>): PlainStream {
  const reader = body.getReader();
  return {
    read: async () => (await reader.read()).value,
    cancel: () => void reader.cancel().catch(() => {}), // a body that is over cannot be cancelled
  };
}
