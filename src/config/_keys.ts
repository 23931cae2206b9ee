/**
 * What counts as a key that a program or an environment gives.
 * @module
 */
import { credentialProblem } from "./_checks.ts";

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

/**
 * What is wrong with a key.
 *
 * @param key What was given.
 */
export function keyProblem(key: unknown): string | undefined {
  if (typeof key !== "string") return "expected a text";
  if (isPlaceholder(key)) return "is blank or an example's: give this user's key, or leave it out";
  return credentialProblem(key);
}
