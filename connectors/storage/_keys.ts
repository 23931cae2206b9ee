/**
 * Keys as names that every file system and object store takes.
 * @module
 */

const plain = /^[a-z0-9_.-]$/;
const encoder = new TextEncoder();

/**
 * A key with everything but lower case letters, digits, `_`, `.` and `-` written as `%` and two digits for each byte:
 * capitals too, since some file systems do not distinguish them. What a key begins with, its name begins with.
 *
 * @param key Any text.
 */
export function nameOfKey(key: string): string {
  return [...encoder.encode(key)].map((byte) => {
    const character = String.fromCharCode(byte);
    return plain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

/**
 * The key of a name that {@linkcode nameOfKey} made.
 *
 * @param name The name.
 * @returns Undefined when it is none.
 */
export function keyOfName(name: string): string | undefined {
  try {
    const key = decodeURIComponent(name);
    return nameOfKey(key) === name ? key : undefined;
  } catch {
    return undefined;
  }
}
