/**
 * After a failed try: the same model again, or the next one? Deciding only; nothing is done here.
 * @module
 */
import type { RetrySettings } from "../config/settings/settings.ts";
import { maxHintMs } from "../state/breaker/circuit_breaker.ts";
import { backoffCapMs, backoffMs } from "./backoff.ts";
import type { Failure } from "./failure.ts";

/** What the decision is based on beside the failure. */
export interface RetryContext {
  /** Retries of this model so far in this request. */
  readonly retries: number;
  readonly settings: RetrySettings;
  /** No other model could take the request. */
  readonly alone: boolean;
  /** What is left of the request's deadline, ms. */
  readonly remainingMs: number;
  /** The limit one try has, ms. */
  readonly tryLimitMs: number;
  readonly random: () => number;
}

/** What to do next. */
export type NextStep =
  | { readonly step: "retry"; readonly delayMs: number; readonly otherwise: Rotate }
  | Rotate;

/** On to the next model. */
export interface Rotate {
  readonly step: "rotate";
  /** In every pool, by what the vendor reported. */
  readonly standby?: VendorStandby;
}

/** A standby that the vendor asks for: unless it says for how long, the configuration does. */
type VendorStandby =
  | { readonly reason: "rate_limited"; readonly standbyMs: number }
  | { readonly reason: "quota_exhausted"; readonly standbyMs?: number }
  | { readonly reason: "model_not_found" };

/**
 * Decides by the failure's class, the provider's hint, the codes configured and what time is left.
 *
 * @param failure The try that failed.
 * @param context What else counts.
 */
export function decide(failure: Failure, context: RetryContext): NextStep {
  const { settings, alone } = context;
  if (failure.kind === "quota_exhausted") {
    const { retryAfterMs: standbyMs } = failure; // when the quota resets, where the provider says
    return {
      step: "rotate",
      standby: { reason: "quota_exhausted", ...(standbyMs === undefined ? {} : { standbyMs }) },
    };
  }
  if (failure.kind === "model_not_found") return { step: "rotate", standby: { reason: "model_not_found" } };
  const honorsHint = settings.honorRetryAfter || settings.backoff === "retry_after";
  const hintMs = honorsHint && isRefusalForNow(failure) ? failure.retryAfterMs : undefined;
  const rotate: Rotate = hintMs === undefined
    ? { step: "rotate" }
    : { step: "rotate", standby: { reason: "rate_limited", standbyMs: Math.min(hintMs, maxHintMs) } };
  if (!mayRetry(failure, context)) return rotate;
  const delayMs = hintMs === undefined
    ? backoffMs(context.retries, settings, context.random)
    : hintMs <= (alone ? settings.maxDelayMs : backoffCapMs(context.retries, settings))
    ? hintMs
    : Infinity;
  return delayMs < context.remainingMs ? { step: "retry", delayMs, otherwise: rotate } : rotate;
}

function isRefusalForNow({ kind }: Failure): boolean {
  return kind === "rate_limited" || kind === "server";
}

function mayRetry(failure: Failure, { retries, settings, alone, remainingMs, tryLimitMs }: RetryContext): boolean {
  if (retries >= settings.maxAttempts || failure.shouldRetry === false) return false;
  if (failure.neverSent && !alone) return false;
  if (failure.kind === "timeout") return alone || remainingMs >= 2 * tryLimitMs;
  const { status } = failure;
  if (status !== undefined && settings.retryableCodes.has(status)) return true;
  if (status !== undefined && settings.nonRetryableCodes.has(status)) return false;
  return failure.retryable;
}
