/**
 * Percentiles of durations in constant memory.
 * @module
 */

/** Buckets per doubling: a percentile is exact within 6 %. */
const perOctave = 6;

/** Up to 2²¹ ms, which is 35 minutes. */
const buckets = 21 * perOctave;

/** Durations by bucket. */
export class Durations {
  #counts: Uint32Array | undefined;
  #size = 0;

  /** Adds one, ms. */
  add(ms: number): void {
    const bucket = Math.min(buckets - 1, Math.max(0, Math.floor(Math.log2(ms + 1) * perOctave)));
    (this.#counts ??= new Uint32Array(buckets))[bucket]!++;
    this.#size++;
  }

  /** Adds those of another. */
  addAll(other: Durations): void {
    if (other.#counts === undefined) return;
    const counts = this.#counts ??= new Uint32Array(buckets);
    other.#counts.forEach((value, bucket) => counts[bucket]! += value);
    this.#size += other.#size;
  }

  /** The duration that a share of all does not exceed, by nearest rank, ms; undefined when there is none. */
  percentile(share: number): number | undefined {
    if (this.#counts === undefined || this.#size === 0) return undefined;
    let rank = Math.max(1, Math.ceil(share * this.#size));
    const bucket = this.#counts.findIndex((value) => (rank -= value) <= 0);
    return 2 ** ((bucket + 0.5) / perOctave) - 1;
  }
}
