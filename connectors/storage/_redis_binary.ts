/**
 * Bytes as text: each byte is one character, so that JSON stays readable in Redis's own tools.
 * @module
 */

/** Maximum number of arguments of one call. */
const maxArguments = 0x8000;

/** Encodes bytes. */
export function toBinaryText(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += maxArguments) {
    text += String.fromCharCode(...data.subarray(at, at + maxArguments));
  }
  return text;
}

/** Decodes what {@linkcode toBinaryText} returned. */
export function fromBinaryText(text: string): Uint8Array {
  const data = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) data[at] = text.charCodeAt(at);
  return data;
}
