/**
 * Sliding window counter in slices (buckets): adding and summing take constant time.
 * @module
 */

/** Options of a {@linkcode SlidingWindow}. */
export interface SlidingWindowOptions {
  /** Length of the window, ms. */
  readonly windowMs: number;
  /** Number of slices. The window moves slice by slice. @default 10 */
  readonly slices?: number;
  /**
   * Whether values expire late: all of the last `windowMs` and up to one more slice counts. Otherwise up to one slice
   * less counts.
   */
  readonly expiresLate?: boolean;
}

/**
 * A sum over the last `windowMs`. Times are monotonic; a time that goes backwards counts as the latest one. Sums of
 * integers are exact up to 2⁵³.
 *
 * @example
 * ```ts
 * const requests = new SlidingWindow({ windowMs: 60_000 });
 * requests.add(0, 1);
 * requests.sum(59_000); // 1
 * ```
 */
export class SlidingWindow {
  readonly #sliceMs: number;
  readonly #slices: Float64Array;
  /** Index of the newest slice, from time 0. */
  #newest = 0;
  #newestEnd: number;
  #sum = 0;

  constructor({ windowMs, slices = 10, expiresLate = false }: SlidingWindowOptions) {
    this.#sliceMs = windowMs / slices;
    this.#newestEnd = this.#sliceMs;
    this.#slices = new Float64Array(expiresLate ? slices + 1 : slices);
  }

  /**
   * Adds a value.
   *
   * @param now Monotonic ms.
   */
  add(now: number, value: number): void {
    this.#turn(now);
    this.#slices[this.#newest % this.#slices.length]! += value;
    this.#sum += value;
  }

  /**
   * Changes a value that was added earlier, unless it has expired.
   *
   * @param now Monotonic ms.
   * @param at Time at which it was added, monotonic ms.
   * @param change Difference; may be negative.
   * @returns Whether it was still in the window.
   */
  amend(now: number, at: number, change: number): boolean {
    this.#turn(now);
    const slice = Math.max(0, Math.floor(at / this.#sliceMs));
    if (slice <= this.#newest - this.#slices.length || slice > this.#newest) return false;
    this.#slices[slice % this.#slices.length]! += change;
    this.#sum += change;
    return true;
  }

  /**
   * Returns the sum over the window.
   *
   * @param now Monotonic ms.
   */
  sum(now: number): number {
    this.#turn(now);
    return this.#sum;
  }

  /** Time until which the sum stays constant if nothing is added, monotonic ms. */
  get steadyUntil(): number {
    return this.#newestEnd;
  }

  /**
   * Returns the time at which the sum falls to a threshold if nothing is added.
   *
   * @param now Monotonic ms.
   * @returns Monotonic ms; `now` when the sum is already that low, Infinity when it never falls that low.
   */
  fallsTo(now: number, most: number): number {
    this.#turn(now);
    if (this.#sum <= most) return now;
    const length = this.#slices.length;
    let left = this.#sum;
    for (let slice = this.#newest - length + 1; slice <= this.#newest; slice++) {
      left -= this.#slices[(slice + length) % length]!;
      if (left <= most) return (slice + length) * this.#sliceMs;
    }
    return Infinity;
  }

  clear(): void {
    this.#slices.fill(0);
    this.#sum = 0;
  }

  /** Drops expired slices. Recomputes the sum, so that rounding errors do not accumulate. */
  #turn(now: number): void {
    if (!(now >= this.#newestEnd)) return;
    const slice = Math.floor(now / this.#sliceMs);
    const length = this.#slices.length;
    for (let step = Math.min(slice - this.#newest, length); step > 0; step--) {
      this.#slices[(slice - step + 1) % length] = 0;
    }
    this.#newest = slice;
    this.#newestEnd = (slice + 1) * this.#sliceMs;
    this.#sum = 0;
    for (const value of this.#slices) this.#sum += value;
  }
}
