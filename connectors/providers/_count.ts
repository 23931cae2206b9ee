/**
 * Parsing of token counts.
 * @module
 */

/**
 * Parses one count; 0 if the vendor omits it.
 *
 * @param value The vendor's value.
 * @returns NaN if it is not a count, which makes any sum NaN as well.
 */
export function parseCount(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return Number.isInteger(value) && value as number >= 0 ? value as number : NaN;
}
