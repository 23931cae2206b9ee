/**
 * Percentiles of durations in bounded memory.
 * @module
 */

/** Buckets per doubling: a percentile is exact within 3 %. */
const perOctave = 12;

/** Up to 2²¹ ms, which is 35 minutes. */
const buckets = 21 * perOctave;

/** A histogram of durations. It holds the buckets between its shortest and its longest duration, so a cell stays small. */
export class Durations {
  /** The bucket of the first count. */
  #first = 0;
  readonly #counts: number[] = [];
  #size = 0;

  /** Adds one, ms. */
  add(ms: number): void {
    this.#addTo(Math.min(buckets - 1, Math.max(0, Math.floor(Math.log2(ms + 1) * perOctave))), 1);
  }

  /** Adds those of another. */
  addAll(other: Durations): void {
    for (let index = 0; index < other.#counts.length; index++) {
      if (other.#counts[index]! > 0) this.#addTo(other.#first + index, other.#counts[index]!);
    }
  }

  /** The duration that a share of all does not exceed, by nearest rank, ms; undefined when there is none. */
  percentile(share: number): number | undefined {
    if (this.#size === 0) return undefined;
    let rank = Math.max(1, Math.ceil(share * this.#size));
    const index = this.#counts.findIndex((value) => (rank -= value) <= 0);
    return 2 ** ((this.#first + index + 0.5) / perOctave) - 1;
  }

  #addTo(bucket: number, value: number): void {
    if (this.#size === 0) this.#first = bucket;
    while (bucket < this.#first) this.#first = (this.#counts.unshift(0), this.#first - 1);
    while (bucket >= this.#first + this.#counts.length) this.#counts.push(0);
    this.#counts[bucket - this.#first]! += value;
    this.#size += value;
  }
}
