/**
 * Base64 (RFC 4648, section 4) of bytes.
 * @module
 */

import { stripTrailing } from "./strip_trailing.ts";

/** Maximum number of arguments per call. */
const maxArguments = 0x8000;

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let offset = 0; offset < bytes.length; offset += maxArguments) {
    binary += String.fromCharCode(...bytes.subarray(offset, offset + maxArguments));
  }
  return btoa(binary);
}

/** Encodes bytes as base64url without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return stripTrailing(toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_"), "=");
}

/**
 * Decodes Base64.
 *
 * @param text Base64; white space is ignored.
 * @throws {DOMException} When it is not Base64.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
