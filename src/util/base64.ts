/**
 * Base64 (RFC 4648, section 4) of bytes.
 * @module
 */

/** Bytes that fit into one call as arguments. */
const maxArguments = 0x8000;

/** Encodes bytes, however many there are. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let offset = 0; offset < bytes.length; offset += maxArguments) {
    binary += String.fromCharCode(...bytes.subarray(offset, offset + maxArguments));
  }
  return btoa(binary);
}

/**
 * Decodes bytes.
 *
 * @param text Their encoding; white space is ignored.
 * @throws {DOMException} When it is none.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
