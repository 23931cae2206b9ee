/**
 * Bytes that come in chunks.
 * @module
 */

/**
 * Whether a body comes in chunks that are not there yet.
 *
 * @param body Of a request.
 */
export function isIncoming(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
