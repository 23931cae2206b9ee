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

/** Buckets per doubling of latency. The middle of a bucket is within 2^(1/16) − 1 = 4.5 % of each value in it. */
const bucketsPerDoubling = 8;
/** Latencies above this fall into the last bucket, ms: a day. */
const maxLatencyMs = 24 * 60 * 60 * 1000;
/** Number of buckets. The first holds latencies below 1 ms. */
const buckets = 2 + Math.floor(Math.log2(maxLatencyMs) * bucketsPerDoubling);

/** Histogram with exponential buckets. */
export class LatencyHistogram {
  readonly #counts = new Float64Array(buckets);
  #count = 0;
  #sumMs = 0;
  #maxMs = 0;

  /**
   * Records a latency.
   *
   * @param ms Latency, ms. Negative and non-finite values are ignored.
   */
  add(ms: number): void {
    if (!(ms >= 0 && ms < Infinity)) return;
    const bucket = ms < 1 ? 0 : 1 + Math.floor(Math.log2(Math.min(ms, maxLatencyMs)) * bucketsPerDoubling);
    this.#counts[bucket]!++;
    this.#count++;
    this.#sumMs += ms;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  /** Mean, ms; null without observations. */
  get mean(): number | null {
    return this.#count === 0 ? null : this.#sumMs / this.#count;
  }

  /**
   * 95th percentile by nearest rank, ms: the middle of its bucket, which is within 4.5 % (0.5 ms below 1 ms). With
   * fewer than twenty observations, the exact maximum. Null without observations.
   */
  get percentile95(): number | null {
    if (this.#count === 0) return null;
    const rank = Math.ceil(this.#count * 0.95);
    if (rank === this.#count) return this.#maxMs;
    let bucket = 0;
    for (let below = this.#counts[0]!; below < rank; below += this.#counts[bucket]!) bucket++;
    const middle = bucket === 0 ? 0.5 : 2 ** ((bucket - 0.5) / bucketsPerDoubling);
    return Math.min(middle, this.#maxMs);
  }
}
