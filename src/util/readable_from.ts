/**
 * Chunks that come, as objects of the Fetch standard.
 * @module
 */

/**
 * The same as a stream that reads nothing ahead.
 *
 * @param chunks Read once.
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
