/**
 * Token counts of vendors.
 * @module
 */

/**
 * One count; 0 where the vendor leaves it out.
 *
 * @param value As the vendor has it.
 * @returns NaN for what is no count: a sum with it is none either.
 */
export function countOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return Number.isInteger(value) && value as number >= 0 ? value as number : NaN;
}
