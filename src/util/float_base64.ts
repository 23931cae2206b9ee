/**
 * Vectors as Base64 of little-endian 32-bit floats, the format of OpenAI's embeddings with `encoding_format: "base64"`.
 * @module
 */

/** Encodes a vector. */
export function base64OfFloats(vector: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, index) => view.setFloat32(index * 4, value, true));
  let binary = "";
  for (const byte of new Uint8Array(view.buffer)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/**
 * Decodes a vector.
 *
 * @param text Base64.
 * @throws {DOMException} When it is not Base64.
 */
export function floatsOfBase64(text: string): number[] {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => view.getFloat32(index * 4, true));
}
