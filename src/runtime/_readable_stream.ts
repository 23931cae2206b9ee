/**
 * Converts bodies to streams.
 * @module
 */
import type { BodyReader } from "../contracts/runtime.ts";

/** Reads on demand, so that a slow reader slows the provider down. */
export function toReadableStream(reader: BodyReader): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      done ? controller.close() : controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}
