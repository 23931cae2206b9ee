/**
 * Retry budget: limits same-model retries to a share of a provider's traffic, so that retries do not amplify an outage.
 *
 * Source: Finagle's `RetryBudget`, and adaptive throttling in Google's SRE book: a ratio of the requests in a sliding
 * window, plus a minimum.
 * @module
 */
import type { RetryBudgetSettings } from "../../config/settings/settings.ts";
import { SlidingWindow } from "../../util/sliding_window.ts";

/** Counts retries and requests over a sliding window. */
export class RetryBudget {
  readonly #settings: RetryBudgetSettings;
  readonly #requests: SlidingWindow;
  readonly #retries: SlidingWindow;

  constructor(settings: RetryBudgetSettings) {
    this.#settings = settings;
    this.#requests = new SlidingWindow(settings);
    this.#retries = new SlidingWindow(settings);
  }

  /**
   * Counts a request.
   *
   * @param now Monotonic ms.
   */
  deposit(now: number): void {
    this.#requests.add(now, 1);
  }

  /**
   * Takes a retry from the budget. Returns false when the budget is exhausted.
   *
   * @param now Monotonic ms.
   */
  withdraw(now: number): boolean {
    const { ratio, min } = this.#settings;
    if (this.#retries.sum(now) >= min + ratio * this.#requests.sum(now)) return false;
    this.#retries.add(now, 1);
    return true;
  }
}
