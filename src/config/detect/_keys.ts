/**
 * What counts as a key that an environment gives.
 * @module
 */

/** Values people leave in from examples. */
const placeholder =
  /^(?:(?:sk|key|api)[-_])?(?:[.…*x]+|(?:your|insert|enter|replace|paste|change)[-_ ]?(?:me|.*(?:key|token|here)))$|^<.*>$|^\$\{?\w+\}?$/i;

/**
 * Whether a text stands where a key should, and is none: blank, or left in from an example.
 *
 * @param key What was given.
 */
export function isPlaceholder(key: string): boolean {
  return key.trim() === "" || placeholder.test(key.trim());
}
