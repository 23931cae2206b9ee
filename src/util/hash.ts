/**
 * Fast, non-cryptographic hashes with good distribution.
 * @module
 */

const two32 = 2 ** 32;
/** Mask of the bits above the lower 32 that a double represents exactly. */
const upperBits = 0x1fffff;

/**
 * Returns a 53-bit hash of a string: cyrb53 (github.com/bryc/code, public domain), two multiplicative lanes over UTF-16
 * code units, each finished with the mixer of MurmurHash3.
 *
 * @returns An integer from 0 to 2⁵³ − 1. Its lower 32 bits (`>>> 0`) are a hash themselves.
 *
 * @example
 * ```ts
 * hash53("a") === hash53("a"); // true, in every process
 * ```
 */
export function hash53(text: string): number {
  let lower = 0xdeadbeef | 0;
  let upper = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    lower = Math.imul(lower ^ unit, 0x9e3779b1);
    upper = Math.imul(upper ^ unit, 0x5f356495);
  }
  lower = Math.imul(lower ^ lower >>> 16, 0x85ebca6b) ^ Math.imul(upper ^ upper >>> 13, 0xc2b2ae35);
  upper = Math.imul(upper ^ upper >>> 16, 0x85ebca6b) ^ Math.imul(lower ^ lower >>> 13, 0xc2b2ae35);
  return (upper & upperBits) * two32 + (lower >>> 0);
}

/**
 * Returns a 32-bit hash of an ordered pair of numbers: the finisher of MurmurHash3 (fmix32, Austin Appleby, public
 * domain). It hashes many pairs of few strings whose hashes are stored.
 *
 * @returns An integer from 0 to 2³² − 1.
 */
export function mix32(first: number, second: number): number {
  let mixed = first ^ Math.imul(second, 0x9e3779b1);
  mixed = Math.imul(mixed ^ mixed >>> 16, 0x85ebca6b);
  mixed = Math.imul(mixed ^ mixed >>> 13, 0xc2b2ae35);
  return (mixed ^ mixed >>> 16) >>> 0;
}

/**
 * Maps a 32-bit hash to the open interval (0, 1).
 *
 * @param hash A 32-bit hash, such as of {@linkcode mix32}.
 */
export function toFraction(hash: number): number {
  return (hash + 0.5) / two32;
}
