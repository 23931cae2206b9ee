/**
 * Determines when to warn about the retirement of a model.
 * @module
 */

/** Notice period, ms: 30 days. */
const noticeMs = 30 * 24 * 60 * 60 * 1000;

/**
 * Whether a model is retired, or will be within 30 days.
 *
 * @param retires ISO date; undefined if none is announced.
 * @param now Wall-clock time, ms since the Unix epoch.
 */
export function isRetiring(retires: string | undefined, now: number): retires is string {
  return retires !== undefined && Date.parse(retires) - now <= noticeMs;
}
