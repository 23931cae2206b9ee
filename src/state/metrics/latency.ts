/**
 * Latency of a model: a peak-sensitive exponentially weighted moving average (EWMA).
 *
 * Source: Finagle's `PeakEwma`. A value above the mean becomes the mean immediately. A value below it is averaged with
 * the weight 1 − e^(−Δt/τ). Without measurements the mean decays with e^(−Δt/τ), so that a model that was slow once is
 * eventually tried again.
 * @module
 */

/**
 * τ, ms: the weight of a measurement falls to e⁻¹ after this time. A model twice as slow as another is tried again
 * after 0.7 τ.
 */
const defaultDecayMs = 60_000;
/** Penalty of a failure, ms. */
const defaultPenaltyMs = 10_000;
/** Maximum latency, ms; higher values are clamped. */
const maxLatencyMs = 24 * 60 * 60 * 1000;

/** The EWMA of one model. Times are monotonic ms; a time that goes backwards counts as the latest one. */
export class Latency {
  readonly #decayMs: number;
  readonly #penaltyMs: number;
  #mean: number | undefined;
  #at = 0;
  /**
   * Cached mean and the time until which it is accurate enough, since strategies read it for every model and request.
   */
  #read = 0;
  #readUntil = -Infinity;

  /** @param options Time constant of the decay, and penalty of a failure, ms. */
  constructor({ decayMs = defaultDecayMs, penaltyMs = defaultPenaltyMs }: {
    readonly decayMs?: number;
    readonly penaltyMs?: number;
  } = {}) {
    this.#decayMs = decayMs;
    this.#penaltyMs = penaltyMs;
  }

  /**
   * Records the latency of a response.
   *
   * @param now Monotonic ms.
   * @param ms Latency, ms; invalid values are ignored.
   */
  observe(now: number, ms: number): void {
    if (!(ms >= 0)) return;
    const measured = Math.min(ms, maxLatencyMs);
    const weight = this.#weight(now);
    const mean = this.#mean ?? 0;
    this.#set(now, measured > mean * weight ? measured : mean * weight + measured * (1 - weight));
  }

  /**
   * Records that a response, which was not waited for, would have taken longer. Has no effect if the mean is above that.
   *
   * @param now Monotonic ms.
   * @param ms The wait, ms.
   */
  observeMinimum(now: number, ms: number): void {
    if (ms > (this.value(now) ?? 0)) this.observe(now, ms);
  }

  /** Records a failure. */
  addFailure(now: number): void {
    this.#set(now, Math.min((this.#mean ?? 0) * this.#weight(now) + this.#penaltyMs, maxLatencyMs));
  }

  /** Returns the decayed mean, in ms with a precision of 0.001; undefined until something was recorded. */
  value(now: number): number | undefined {
    if (this.#mean === undefined) return undefined;
    if (now >= this.#readUntil) {
      this.#read = this.#mean * this.#weight(now);
      this.#readUntil = now + this.#decayMs / 1000;
    }
    return this.#read;
  }

  #set(now: number, mean: number): void {
    this.#mean = mean;
    this.#at = Math.max(this.#at, now);
    this.#readUntil = -Infinity;
  }

  #weight(now: number): number {
    return Math.exp(-Math.max(0, now - this.#at) / this.#decayMs);
  }
}
