/**
 * Hedge budget: limits hedged requests to a share of a pool's requests, so that hedging does not amplify an outage.
 * @module
 */
import { SlidingWindow } from "../../util/sliding_window.ts";

/** Length of the window, ms: a share of 5 % allows hedges from two requests a minute on. */
const windowMs = 10 * 60 * 1000;

/** Tolerance of a product of a share and a count, such as 0.29 · 100. */
const rounding = 1e-9;

/**
 * Counts requests and hedges over a sliding window of 10 minutes. It starts empty, without an initial allowance: with a
 * share of 5 %, the 20th request is the first that may be hedged. Hedges expire later than the requests that allowed
 * them, so that the share also applies to any number of first requests.
 *
 * @example
 * ```ts
 * const budget = new HedgeBudget();
 * budget.deposit(0);
 * budget.deposit(0);
 * budget.withdraw(10, 0.5); // true
 * budget.withdraw(10, 0.5); // false: one of two requests is hedged
 * ```
 */
export class HedgeBudget {
  readonly #requests = new SlidingWindow({ windowMs });
  readonly #hedges = new SlidingWindow({ windowMs, expiresLate: true });

  /**
   * Counts a request.
   *
   * @param now Monotonic ms.
   */
  deposit(now: number): void {
    this.#requests.add(now, 1);
  }

  /**
   * Takes a hedge from the budget. Returns false when the budget is exhausted.
   *
   * @param now Monotonic ms.
   * @param maxShare Maximum share of the requests, up to 1.
   */
  withdraw(now: number, maxShare: number): boolean {
    if (this.#hedges.sum(now) + 1 > maxShare * this.#requests.sum(now) + rounding) return false;
    this.#hedges.add(now, 1);
    return true;
  }

  /**
   * Returns a hedge that was not sent.
   *
   * @param now Monotonic ms.
   * @param at When it was taken, monotonic ms.
   */
  refund(now: number, at: number): void {
    this.#hedges.amend(now, at, -1);
  }
}
