/**
 * Base64 (RFC 4648, section 4) of bytes.
 * @module
 */

/** Bytes that fit into one call as arguments. */
const maxArguments = 0x8000;

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let offset = 0; offset < bytes.length; offset += maxArguments) {
    binary += String.fromCharCode(...bytes.subarray(offset, offset + maxArguments));
  }
  return btoa(binary);
}

/**
 * Decodes Base64.
 *
 * @param text White space in it is ignored.
 * @throws {DOMException} When it is not Base64.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
