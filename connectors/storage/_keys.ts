/**
 * Encodes keys as names that are valid in all file systems and object stores.
 * @module
 */

const plain = /^[a-z0-9_.-]$/;
const encoder = new TextEncoder();

/**
 * Encodes a key. All characters except lower-case letters, digits, `_`, `.` and `-` are percent-encoded as UTF-8 bytes,
 * including capitals, since some file systems are case-insensitive. Prefixes are preserved: the name of a key's prefix
 * is a prefix of its name.
 *
 * @param key Any string.
 */
export function nameOfKey(key: string): string {
  return [...encoder.encode(key)].map((byte) => {
    const character = String.fromCharCode(byte);
    return plain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

/**
 * Decodes a name created by {@linkcode nameOfKey}.
 *
 * @returns Undefined if it is not such a name.
 */
export function keyOfName(name: string): string | undefined {
  try {
    const key = decodeURIComponent(name);
    return nameOfKey(key) === name ? key : undefined;
  } catch {
    return undefined;
  }
}
