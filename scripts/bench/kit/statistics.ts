/**
 * Statistics of samples.
 * @module
 */

/**
 * Returns a percentile, linearly interpolated between the two nearest samples.
 *
 * @param samples Samples in any order.
 * @param share 0 to 1; 0.5 is the median.
 * @returns NaN without samples.
 */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (below === undefined || above === undefined) return NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/**
 * Returns the median.
 *
 * @param samples Samples in any order.
 * @returns NaN without samples.
 */
export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/**
 * Returns the median of a paired comparison. Comparing round by round cancels drift of the machine.
 *
 * @param left One number per round.
 * @param right One number per round.
 * @param combine Ratio or difference of a pair.
 * @returns NaN when no round has both.
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
 * Returns the order of participants in a round. Over as many rounds as participants, each is first once, and follows
 * each other one.
 *
 * @param round Number of the round, starting at 0.
 */
export function orderParticipants<T>(items: readonly T[], round: number): T[] {
  const shift = items.length === 0 ? 0 : round % items.length;
  return [...items.slice(shift), ...items.slice(0, shift)];
}
