/**
 * How long a model takes to answer.
 *
 * Source: the peak-sensitive exponentially weighted moving average of Finagle (`PeakEwma`): a value above the mean
 * becomes the mean at once, one below it pulls it down with the weight 1 − e^(−Δt/τ), and the mean decays with
 * e^(−Δt/τ) while nothing is measured, so that a model that was slow once is tried again some time.
 * @module
 */

/** τ, ms: after this time a measurement weighs e⁻¹. A model twice as slow as another is tried again after 0.7 τ. */
const defaultDecayMs = 60_000;
/** What a failure adds, ms. */
const defaultPenaltyMs = 10_000;
/** Nothing counts as slower, ms. */
const maxLatencyMs = 24 * 60 * 60 * 1000;

/** How {@linkcode Latency} forgets. */
interface LatencyOptions {
  /** Time constant of its decay, ms; 60 s unless said. */
  readonly decayMs?: number;
  /** What a failure adds, ms; 10 s unless said. */
  readonly penaltyMs?: number;
}

/** The decaying mean of one model. Times are monotonic ms; one that goes back counts as the latest seen. */
export class Latency {
  readonly #decayMs: number;
  readonly #penaltyMs: number;
  #mean: number | undefined;
  #at = 0;
  /** The mean as it was read last, and until when that is near enough: strategies read all models for each request. */
  #read = 0;
  #readUntil = -Infinity;

  constructor({ decayMs = defaultDecayMs, penaltyMs = defaultPenaltyMs }: LatencyOptions = {}) {
    this.#decayMs = decayMs;
    this.#penaltyMs = penaltyMs;
  }

  /**
   * Counts the time to an answer.
   *
   * @param ms How long it took; what makes no sense counts for nothing.
   */
  observe(now: number, ms: number): void {
    if (!(ms >= 0)) return;
    const measured = Math.min(ms, maxLatencyMs);
    const weight = this.#weight(now);
    const mean = this.#mean ?? 0;
    this.#set(now, measured > mean * weight ? measured : mean * weight + measured * (1 - weight));
  }

  /** Counts a failure. */
  punish(now: number): void {
    this.#set(now, Math.min((this.#mean ?? 0) * this.#weight(now) + this.#penaltyMs, maxLatencyMs));
  }

  /** The mean as it has decayed by now, ms, to a thousandth; undefined until something was measured or failed. */
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
