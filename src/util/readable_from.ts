/**
 * Bodies of requests that are streams of chunks, also as a `ReadableStream`.
 * @module
 */

/**
 * Converts an async iterable to a `ReadableStream` without read-ahead.
 *
 * @param chunks The chunks. Can be read once.
 */
export function readableFrom(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return?.();
    },
  }, { highWaterMark: 0 });
}
