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

/** A median, and how far the rounds are apart. */
export interface Summary {
  /** The median; NaN without samples. */
  readonly measured: number;
  /** The smallest and the largest sample; absent without samples. */
  readonly spread?: readonly [least: number, most: number];
}

/** Summarizes samples, without those of rounds that failed. */
export function summarize(samples: readonly number[]): Summary {
  const valid = samples.filter((value) => Number.isFinite(value));
  if (valid.length === 0) return { measured: NaN };
  return { measured: median(valid), spread: [Math.min(...valid), Math.max(...valid)] };
}

/**
 * Summarizes a paired comparison. Comparing round by round cancels drift of the machine.
 *
 * @param left One number per round.
 * @param right One number per round.
 * @param combine Ratio or difference of a pair.
 */
export function summarizePairs(
  left: readonly number[],
  right: readonly number[],
  combine: (left: number, right: number) => number,
): Summary {
  const rounds = Math.min(left.length, right.length);
  return summarize(Array.from({ length: rounds }, (_, round) => combine(left[round]!, right[round]!)));
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
