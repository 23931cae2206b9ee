/**
 * Decides between retry and rotation after a failed try, without side effects.
 * @module
 */
import type { RetrySettings } from "../config/settings/settings.ts";
import { maxHintMs } from "../state/breaker/circuit_breaker.ts";
import { type Failure, isFiltered } from "./failure.ts";

/** Facts for the decision besides the failure. */
export interface RetryContext {
  /** Retries of this model in this request so far. */
  readonly retries: number;
  readonly settings: RetrySettings;
  /** Whether no other model could serve the request. */
  readonly alone: boolean;
  /** Remaining time until the deadline, ms. */
  readonly remainingMs: number;
  /** Timeout of one try, ms. */
  readonly tryLimitMs: number;
  readonly random: () => number;
}

/** The decision. */
export type NextStep =
  | { readonly step: "retry"; readonly delayMs: number; readonly otherwise: Rotate }
  | Rotate;

/** Rotates to the next model. */
export interface Rotate {
  readonly step: "rotate";
  /** The standby that the vendor reports. It applies in all pools. */
  readonly standby?: VendorStandby;
}

/**
 * A standby that the vendor requests. Without a duration, the configured one applies. `until` is its end, wall-clock ms,
 * if the vendor has stated a date.
 */
type VendorStandby =
  | { readonly reason: "rate_limited"; readonly standbyMs: number; readonly until?: number }
  | { readonly reason: "quota_exhausted"; readonly standbyMs?: number; readonly until?: number }
  | { readonly reason: "model_not_found" };

/**
 * Decides by the kind of failure, the provider's hints, the configured codes, and the remaining time.
 *
 * @param context Further facts.
 */
export function decide(failure: Failure, context: RetryContext): NextStep {
  const { settings, alone } = context;
  const date = failure.retryAt === undefined ? {} : { until: failure.retryAt };
  if (failure.kind === "quota_exhausted") {
    const { retryAfterMs: standbyMs } = failure; // until the quota resets, if the provider reports that
    return {
      step: "rotate",
      standby: { reason: "quota_exhausted", ...(standbyMs === undefined ? {} : { standbyMs, ...date }) },
    };
  }
  if (failure.kind === "model_not_found") return { step: "rotate", standby: { reason: "model_not_found" } };
  const honorsHint = settings.honorRetryAfter || settings.backoff === "retry_after";
  const hintMs = honorsHint && isRefusalForNow(failure) ? failure.retryAfterMs : undefined;
  const rotate: Rotate = hintMs === undefined
    ? { step: "rotate" }
    : { step: "rotate", standby: { reason: "rate_limited", standbyMs: Math.min(hintMs, maxHintMs), ...date } };
  if (!mayRetry(failure, context)) return rotate;
  // a timeout is likely to repeat: it is not worth a try that the deadline would cut short
  const neededMs = failure.kind === "timeout" ? context.tryLimitMs : 0;
  const waitsForHints = alone || settings.backoff === "retry_after";
  const maxMs = waitsForHints ? settings.maxDelayMs : backoffCapMs(context.retries, settings);
  const delayMs = hintMs === undefined
    ? backoffMs(context.retries, settings, context.random)
    : hintMs <= maxMs
    ? hintMs
    : Infinity;
  return delayMs + neededMs < context.remainingMs ? { step: "retry", delayMs, otherwise: rotate } : rotate;
}

function isRefusalForNow({ kind }: Failure): boolean {
  return kind === "rate_limited" || kind === "server";
}

function mayRetry(failure: Failure, { retries, settings, alone }: RetryContext): boolean {
  if (retries >= settings.maxAttempts || failure.shouldRetry === false || isFiltered(failure)) return false;
  if ((failure.neverSent || failure.kind === "timeout") && !alone) return false;
  const { status } = failure;
  if (status !== undefined && settings.retryableCodes.has(status)) return true;
  if (status !== undefined && settings.nonRetryableCodes.has(status)) return false;
  return failure.retryable;
}

/**
 * The maximum delay before retry number `retry`, ms: `initial_delay · 2ⁿ`, at most `max_delay`.
 *
 * @param retry Number of the retry, from 0.
 * @param settings Initial and maximum delay.
 */
function backoffCapMs(retry: number, settings: RetrySettings): number {
  const growth = settings.backoff === "fixed" ? 1 : 2 ** Math.min(retry, 40);
  return Math.min(settings.maxDelayMs, settings.initialDelayMs * growth);
}

/**
 * The delay before retry number `retry`, ms.
 *
 * Source: "full jitter", AWS Architecture Blog, Exponential Backoff And Jitter.
 *
 * @param retry Number of the retry, from 0.
 * @param settings Initial and maximum delay, and the kind of backoff.
 * @param random Uniform in [0, 1).
 */
function backoffMs(retry: number, settings: RetrySettings, random: () => number): number {
  const cap = backoffCapMs(retry, settings);
  return settings.backoff === "fixed" ? cap : random() * cap;
}
