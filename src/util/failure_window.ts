/**
 * Error rate over a sliding window.
 * @module
 */
import { SlidingWindow, type SlidingWindowOptions } from "./sliding_window.ts";

/** Counts requests and failures over a sliding window. */
export class FailureWindow {
  readonly #requests: SlidingWindow;
  readonly #failures: SlidingWindow;

  constructor(options: SlidingWindowOptions) {
    this.#requests = new SlidingWindow(options);
    this.#failures = new SlidingWindow(options);
  }

  /**
   * Records an outcome.
   *
   * @param now Monotonic ms.
   */
  add(now: number, isFailure: boolean): void {
    this.#requests.add(now, 1);
    if (isFailure) this.#failures.add(now, 1);
  }

  /**
   * Returns the number of outcomes in the window.
   *
   * @param now Monotonic ms.
   */
  requests(now: number): number {
    return this.#requests.sum(now);
  }

  /**
   * Returns the error rate, 0 to 1; 0 without outcomes.
   *
   * @param now Monotonic ms.
   */
  share(now: number): number {
    const requests = this.#requests.sum(now);
    return requests === 0 ? 0 : this.#failures.sum(now) / requests;
  }

  clear(): void {
    this.#requests.clear();
    this.#failures.clear();
  }
}
