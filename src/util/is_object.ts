/**
 * JSON objects.
 * @module
 */

/** Whether a value is an object, and neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a value that is an object; an empty object for any other. */
export function objectOrEmpty(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
