/**
 * What a server says that is no HTTP/1.1.
 * @module
 */

/** The bytes of a response break the syntax of RFC 9112, or one of its rules about length. */
export class MalformedResponse extends Error {
  override readonly name = "MalformedResponse";
}
