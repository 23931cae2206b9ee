/**
 * The mean and the 95th percentile of any number of latencies, in constant memory.
 * @module
 */

/** Buckets to each doubling: their middles are within 2^(1/16) − 1 = 4.5 % of whatever falls into them. */
const bucketsPerDoubling = 8;
/** Longer latencies are in the last bucket: a day. */
const maxLatencyMs = 24 * 60 * 60 * 1000;
/** The first bucket has the latencies below 1 ms. */
const buckets = 2 + Math.floor(Math.log2(maxLatencyMs) * bucketsPerDoubling);

/** A histogram whose buckets grow with the latency. */
export class LatencyHistogram {
  readonly #counts = new Float64Array(buckets);
  #count = 0;
  #sumMs = 0;
  #maxMs = 0;

  /**
   * Adds a latency.
   *
   * @param ms Negative and non-finite values are ignored.
   */
  add(ms: number): void {
    if (!(ms >= 0 && ms < Infinity)) return;
    const bucket = ms < 1 ? 0 : 1 + Math.floor(Math.log2(Math.min(ms, maxLatencyMs)) * bucketsPerDoubling);
    this.#counts[bucket]!++;
    this.#count++;
    this.#sumMs += ms;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  /** The mean, ms; null before the first. */
  get mean(): number | null {
    return this.#count === 0 ? null : this.#sumMs / this.#count;
  }

  /**
   * The 95th percentile by nearest rank, ms: the middle of its bucket, which is within 4.5 % (0.5 ms below 1 ms); the
   * longest of less than twenty is exact. Null before the first.
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
