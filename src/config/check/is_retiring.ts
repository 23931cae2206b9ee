/**
 * When it is time to say that a model retires.
 * @module
 */

/** How long ahead, ms: 30 days. */
const noticeMs = 30 * 24 * 60 * 60 * 1000;

/**
 * Whether a model is retired, or will be within 30 days.
 *
 * @param retires ISO date; undefined where none is announced.
 * @param now Wall clock, ms since 1970.
 */
export function isRetiring(retires: string | undefined, now: number): retires is string {
  return retires !== undefined && Date.parse(retires) - now <= noticeMs;
}
