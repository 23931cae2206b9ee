/**
 * The error for a message that is not valid HTTP/1.1.
 * @module
 */

/** A message violates the syntax of RFC 9112, or one of its rules about length. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}
