/**
 * Type guard for streamed bodies.
 * @module
 */

/**
 * Whether a request body is a stream of chunks.
 *
 * @param body The request body.
 */
export function isIncoming(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
