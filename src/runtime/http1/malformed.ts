/**
 * The error for a response that is not valid HTTP/1.1.
 * @module
 */

/** A response violates the syntax of RFC 9112, or one of its rules about length. */
export class MalformedResponse extends Error {
  override readonly name = "MalformedResponse";
}
