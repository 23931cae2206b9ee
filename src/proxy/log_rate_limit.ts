/**
 * How many lines are written about refused requests, which come at the will of whoever sends them.
 * @module
 */

const maxLines = 10;
const windowMs = 1_000;

/** Lets through 10 lines a second, and counts the others. */
export class LogRateLimit {
  #windowEndsAt = 0;
  #lines = 0;
  #suppressed = 0;

  /**
   * Asks for a line.
   *
   * @param now Monotonic ms.
   * @returns How many lines were suppressed since the last one; undefined: this one is, too.
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
