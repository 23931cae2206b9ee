/**
 * Rate limit of log lines about rejected requests, which any client can cause.
 * @module
 */

const maxLines = 10;
const windowMs = 1_000;

/** Allows 10 lines per second, and counts the others. */
export class LogRateLimit {
  #windowEndsAt = 0;
  #lines = 0;
  #suppressed = 0;

  /**
   * Requests permission for a line.
   *
   * @param now Monotonic ms.
   * @returns The number of lines suppressed since the last one; undefined if this one is suppressed, too.
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
