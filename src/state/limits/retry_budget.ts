/**
 * How many same-model retries a provider's traffic allows, so that retries cannot multiply an outage.
 *
 * Source: the retry budget of Finagle and the adaptive retries of Google's SRE book: a share of the requests of a
 * window plus a floor.
 * @module
 */
import type { RetryBudgetSettings } from "../../config/settings/settings.ts";
import { SlidingWindow } from "../../util/sliding_window.ts";

/** Retries against requests, over a sliding window. */
export class RetryBudget {
  readonly #settings: RetryBudgetSettings;
  readonly #requests: SlidingWindow;
  readonly #retries: SlidingWindow;

  constructor(settings: RetryBudgetSettings) {
    this.#settings = settings;
    this.#requests = new SlidingWindow(settings);
    this.#retries = new SlidingWindow(settings);
  }

  /** Counts a request. Monotonic ms. */
  deposit(now: number): void {
    this.#requests.add(now, 1);
  }

  /** Takes one retry, if one is left. Monotonic ms. */
  withdraw(now: number): boolean {
    const { ratio, min } = this.#settings;
    if (this.#retries.sum(now) >= min + ratio * this.#requests.sum(now)) return false;
    this.#retries.add(now, 1);
    return true;
  }
}
