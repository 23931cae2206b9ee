/**
 * The delay before a retry.
 *
 * Source: "full jitter", AWS Architecture Blog, Exponential Backoff And Jitter.
 * @module
 */
import type { RetrySettings } from "../config/settings/settings.ts";

/**
 * The maximum delay before retry number `retry`, ms: `initial_delay · 2ⁿ`, at most `max_delay`.
 *
 * @param retry Number of the retry, from 0.
 * @param settings Initial and maximum delay.
 */
export function backoffCapMs(retry: number, settings: RetrySettings): number {
  const growth = settings.backoff === "fixed" ? 1 : 2 ** Math.min(retry, 40);
  return Math.min(settings.maxDelayMs, settings.initialDelayMs * growth);
}

/**
 * The delay before retry number `retry`, ms.
 *
 * @param retry Number of the retry, from 0.
 * @param settings Initial and maximum delay, and the kind of backoff.
 * @param random Uniform in [0, 1).
 *
 * @example
 * ```ts
 * import { defaultRetry } from "../config/settings/defaults.ts";
 *
 * const settings = { ...defaultRetry, retryableCodes: new Set([503]), nonRetryableCodes: new Set([400]) };
 * backoffMs(2, settings, () => 0.5); // half of initial_delay · 4
 * ```
 */
export function backoffMs(retry: number, settings: RetrySettings, random: () => number): number {
  const cap = backoffCapMs(retry, settings);
  return settings.backoff === "fixed" ? cap : random() * cap;
}
