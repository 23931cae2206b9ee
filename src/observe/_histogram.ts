/**
 * Histogram with fixed bucket bounds.
 * @module
 */
import type { HistogramSample, Labels } from "../contracts/metrics.ts";

/** Counts observations per bucket, in constant memory. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  /** @param bounds Upper bounds of the buckets, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  /** Records an observation. Negative and non-finite values are ignored. */
  observe(value: number): void {
    if (!(value >= 0 && value < Infinity)) return;
    let bucket = 0;
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#sum += value;
    this.#count++;
  }

  /** Returns the current counts, with labels. */
  sample(labels: Labels): HistogramSample {
    return { labels, bounds: this.#bounds, counts: [...this.#counts], sum: this.#sum, count: this.#count };
  }
}
