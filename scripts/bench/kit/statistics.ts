/**
 * What is made of samples.
 * @module
 */

/**
 * A percentile, between the two nearest samples in proportion.
 *
 * @param samples In any order.
 * @param share 0 to 1; 0.5 is the median.
 * @returns NaN when there is no sample.
 */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (below === undefined || above === undefined) return NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/**
 * The median.
 *
 * @param samples In any order.
 * @returns NaN when there is no sample.
 */
export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/**
 * The median of what is left of two series, round by round: drift of the machine between rounds falls out.
 *
 * @param left One number per round.
 * @param right One number per round.
 * @param combine A ratio or a difference.
 * @returns NaN when there is no round that has both.
 */
export function medianOfPairs(
  left: readonly number[],
  right: readonly number[],
  combine: (left: number, right: number) => number,
): number {
  const rounds = Math.min(left.length, right.length);
  const pairs = Array.from({ length: rounds }, (_, round) => combine(left[round]!, right[round]!));
  return median(pairs.filter((value) => Number.isFinite(value)));
}

/**
 * The order of a round: each has been first, and after each other, when there are as many rounds.
 *
 * @param items Who takes part.
 * @param round Counted from 0.
 */
export function orderOf<T>(items: readonly T[], round: number): T[] {
  const shift = items.length === 0 ? 0 : round % items.length;
  return [...items.slice(shift), ...items.slice(0, shift)];
}
