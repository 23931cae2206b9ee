/**
 * Rate limit of log lines about refused requests, which any client can cause.
 * @module
 */

const maxLines = 10;
const windowMs = 1_000;

/** Allows 10 lines a second, and counts the others. */
export class LogRateLimit {
  #windowEndsAt = 0;
  #lines = 0;
  #suppressed = 0;

  /**
   * Asks whether a line may be logged.
   *
   * @param now Monotonic ms.
   * @returns Lines suppressed since the last one; undefined when this one is suppressed too.
   */
  take(now: number): number | undefined {
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + windowMs;
      this.#lines = 0;
    }
    if (this.#lines === maxLines) {
      this.#suppressed++;
      return undefined;
    }
    this.#lines++;
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    return suppressed;
  }
}
