/**
 * What counts as a key that an environment gives.
 * @module
 */

/** Values left in from examples. */
const placeholder =
  /^(?:(?:sk|key|api)[-_])?(?:[.…*x]+|(?:your|insert|enter|replace|paste|change)[-_ ]?(?:me|.*(?:key|token|here)))$|^<.*>$|^\$\{?\w+\}?$/i;

/**
 * Whether a string is not a key: blank, or left in from an example.
 *
 * @param key What was given.
 */
export function isPlaceholder(key: string): boolean {
  return key.trim() === "" || placeholder.test(key.trim());
}
