/**
 * How many same-model retries a provider's traffic allows, so that retries cannot multiply an outage.
 *
 * Source: the retry budget of Finagle and the adaptive retries of Google's SRE book: a share of the requests of a
 * window plus a floor.
 * @module
 */
import type { RetryBudgetSettings } from "../../config/settings/settings.ts";

const slices = 10;

/** A sliding window in ten slices; counting and asking cost the same however much traffic there is. */
export class RetryBudget {
  readonly #settings: RetryBudgetSettings;
  readonly #requests = new Float64Array(slices);
  readonly #retries = new Float64Array(slices);
  #slice = 0;

  /** @param settings Share, floor and window. */
  constructor(settings: RetryBudgetSettings) {
    this.#settings = settings;
  }

  /** Counts a request. Monotonic ms. */
  deposit(now: number): void {
    this.#turn(now);
    this.#requests[this.#slice % slices]! += 1;
  }

  /** Takes one retry, if one is left. Monotonic ms. */
  withdraw(now: number): boolean {
    this.#turn(now);
    const { ratio, min } = this.#settings;
    if (sum(this.#retries) >= min + ratio * sum(this.#requests)) return false;
    this.#retries[this.#slice % slices]! += 1;
    return true;
  }

  #turn(now: number): void {
    const slice = Math.floor(now / (this.#settings.windowMs / slices));
    for (let step = Math.min(slice - this.#slice, slices); step > 0; step--) {
      const stale = (slice - step + 1) % slices;
      this.#requests[stale] = 0;
      this.#retries[stale] = 0;
    }
    this.#slice = Math.max(slice, this.#slice);
  }
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
