/**
 * Recognizes placeholders in environment variables.
 * @module
 */

const placeholder =
  /^(?:(?:sk|key|api)[-_])?(?:[.…*x]+|(?:your|insert|enter|replace|paste|change)[-_ ]?(?:me|.*(?:key|token|here)))$|^<.*>$|^\$\{?\w+\}?$/i;

/** Whether a string is not an API key: blank, or a placeholder from an example. */
export function isPlaceholder(key: string): boolean {
  return key.trim() === "" || placeholder.test(key.trim());
}
