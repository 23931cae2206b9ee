/**
 * What a failed attempt means for the model, for its provider, and for the rest of the request.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Member, Pool } from "../registry/registry.ts";
import type { RequestEnd } from "../state/meter.ts";
import type { Outcome } from "../state/model_state.ts";
import { untilQuotaReset } from "../util/windows.ts";
import type { Rotate } from "./decide.ts";
import type { Failure } from "./failure.ts";
import type { RequestContext } from "./request_context.ts";

/** A model that did not serve in all its tries. */
export interface FailedAttempt {
  readonly failure: Failure;
  readonly next: Rotate;
}

/**
 * Records it for the rest of the request.
 *
 * @param member The model.
 * @param attempt How it failed.
 * @param context What the request has done so far.
 */
export function recordFailure(member: Member, { failure }: FailedAttempt, context: RequestContext): void {
  context.failures.push({ member, failure });
  const isProviders = failure.kind === "auth" || failure.kind === "quota_exhausted" || failure.neverSent;
  if (isProviders) context.ruledOut.add(member.model.instance.entry.id);
}

/**
 * The model's one vote: none for a fault of the request and for what is a fact about the vendor.
 *
 * @param attempt How it failed.
 * @param pool Whose settings hold.
 */
export function voteOn({ failure, next }: FailedAttempt, { routing }: Pool): Outcome {
  if (failure.status !== undefined && routing.deactivation.errorCodes.has(failure.status)) return "failure";
  return next.rest !== undefined || failure.kind === "request" ? "none" : "failure";
}

/**
 * What the model's counts take of it.
 *
 * @param attempt How it failed; undefined where the request ended before.
 */
export function endOf(attempt: FailedAttempt | undefined): RequestEnd {
  return attempt === undefined ? {} : { status: attempt.failure.status, kind: attempt.failure.kind };
}

/**
 * Applies a fact about the vendor: it holds in every pool.
 *
 * @param member The model.
 * @param attempt How it failed.
 * @param pool Whose settings hold.
 * @param clock Wall clock for the calendar, monotonic for cooldowns.
 */
export function applyFact(
  { state, model: { instance } }: Member,
  { next: { rest } }: FailedAttempt,
  { routing: { recovery } }: Pool,
  clock: Clock,
): void {
  if (rest === undefined) return;
  const now = clock.monotonic();
  if (rest.reason === "rate_limited") return state.openModelBreaker(rest.reason, now, rest.restMs);
  if (rest.reason === "model_not_found") return state.openModelBreakerForCooldown(rest.reason, now);
  const { cooldownMs, onQuotaReset, quotaReset } = recovery;
  const untilReset = () =>
    onQuotaReset === false ? cooldownMs : untilQuotaReset(quotaReset ?? instance.entry.quotaReset, clock.now());
  state.openProviderBreaker(rest.reason, now, rest.restMs ?? untilReset());
}
