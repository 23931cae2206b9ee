/**
 * Tables whose keys come from outside.
 * @module
 */

/**
 * Returns the value of a key; undefined for an unknown one, such as `constructor`, which every object inherits.
 *
 * @param table Values by key.
 * @param key Any value. A number is equal to its digits.
 */
export function findOwn<Value>(table: Readonly<Record<string, Value>>, key: unknown): Value | undefined {
  const isKey = typeof key === "string" || typeof key === "number";
  return isKey && Object.hasOwn(table, key) ? table[key] : undefined;
}
