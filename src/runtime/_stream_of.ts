/**
 * A body for those who want a stream.
 * @module
 */
import type { BodyReader } from "../contracts/runtime.ts";

/** Nothing is read before it is asked for, so a slow reader slows the provider. */
export function streamOf(reader: BodyReader): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      done ? controller.close() : controller.enqueue(value);
    },
    cancel: reader.cancel,
  }, { highWaterMark: 0 });
}
