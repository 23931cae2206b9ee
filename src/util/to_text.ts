/**
 * Values of JSON from outside as text.
 * @module
 */

/**
 * Returns a value that should be text as text. `String` throws for an object with its own `toString`, as JSON may have.
 *
 * @param value Any value; other values are returned as the empty string.
 */
export function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
