/**
 * Hashes that spread well and are quick. Not for secrets: collisions are easy to find.
 * @module
 */

const two32 = 2 ** 32;
/** Bits of a double that count exactly, above the lower 32. */
const upperBits = 0x1fffff;

/**
 * A 53-bit hash of a string: cyrb53 (github.com/bryc/code, public domain), two multiplicative lanes over the UTF-16
 * units, each finished with the mixer of MurmurHash3.
 *
 * @returns A whole number from 0 up to 2⁵³ - 1; its lower 32 bits (`>>> 0`) are a hash by themselves.
 *
 * @example
 * ```ts ignore
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
 * A 32-bit hash of two numbers, in this order: the finisher of MurmurHash3 (fmix32, Austin Appleby, public domain)
 * over both. For many pairs of few strings, whose own hashes are kept.
 *
 * @returns A whole number from 0 up to 2³² - 1.
 */
export function mix32(first: number, second: number): number {
  let mixed = first ^ Math.imul(second, 0x9e3779b1);
  mixed = Math.imul(mixed ^ mixed >>> 16, 0x85ebca6b);
  mixed = Math.imul(mixed ^ mixed >>> 13, 0xc2b2ae35);
  return (mixed ^ mixed >>> 16) >>> 0;
}

/**
 * A 32-bit hash as a number between 0 and 1, never either of them.
 *
 * @param hash Such as {@linkcode mix32} returns.
 */
export function fractionOf(hash: number): number {
  return (hash + 0.5) / two32;
}
