/**
 * Records the outcome of an attempt: for the model's counters and circuit breaker, its provider, the strategy, and the
 * request. All permits are released here.
 * @module
 */
import { DeadlineError } from "../errors.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { maxHintMs } from "../state/breaker/circuit_breaker.ts";
import { quotaRecovery, statedEnd } from "../state/breaker/end_date.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import type { Outcome, RequestEnd } from "../state/counters/usage.ts";
import type { AdmittedModel } from "./admission.ts";
import { reportFailure } from "./apply_strategy.ts";
import { findWords, recordProviderError } from "./failure.ts";
import type { FailedAttempt, RequestContext } from "./request_context.ts";
import { limitsIn } from "../registry/provider_answers.ts";
import type { Permit } from "../state/model/permit.ts";
import { isSameLimits } from "../state/limits/rate_limiter.ts";
import { callNow } from "../util/call_now.ts";

/** A model that has not responded for this long when the deadline expires counts as failed, ms. */
const presumedDeadMs = 10_000;

/** Records a failed attempt. */
export function recordFailure(admitted: AdmittedModel, failed: FailedAttempt): void {
  const { context, member, permit } = admitted;
  const { failure, denial } = failed;
  if (denial !== undefined) return recordDenial(admitted, denial);
  const { kind, status } = failure;
  const ms = context.clock.monotonic() - permit.admittedAt;
  context.addStep(member, { outcome: kind, ms, status, error: findWords(failure) });
  recordProviderError(member.model.instance, failure, context.deps);
  release(admitted, classifyOutcome(failed, context.plan.pool), { status, kind });
  context.failures.push(failed);
  const isProviders = kind === "auth" || kind === "quota_exhausted" || failure.neverSent;
  if (isProviders) context.ruledOut.add(member.model.instance.entry.id);
  applyStandby(failed, context);
}

/** Releases an admitted request that was not sent, since other processes have taken what it had reserved. */
function recordDenial(admitted: AdmittedModel, denial: AdmissionDenial): void {
  const { context, member } = admitted;
  context.tried.delete(member.model.name);
  if (context.chain.length === 0 && context.first === member) context.first = undefined;
  context.takenElsewhere.set(member, denial);
  release(admitted, "none", {});
}

/**
 * Records that the request ended during an attempt. An expired deadline counts as a failure of a model only if it had
 * enough time and has not responded.
 */
export function recordAbort(admitted: AdmittedModel, error: unknown): void {
  const { context, member, permit } = admitted;
  if (permit.isUsed) {
    context.addStep(member, { outcome: "aborted", ms: context.clock.monotonic() - permit.admittedAt });
  }
  const isToBlame = DeadlineError.isInstance(error) && context.unansweredMs >= presumedDeadMs;
  release(admitted, isToBlame ? "failure" : "none", {});
}

/** Releases the permit of an attempt. */
export function release({ context, member, permit }: AdmittedModel, outcome: Outcome, end: RequestEnd): void {
  permit.release(outcome, context.clock.monotonic(), end);
  if (outcome === "failure") reportFailure(member, context);
}

/** An invalid request, or a standby that the vendor requests, does not count as a failure of the model. */
function classifyOutcome({ failure, next }: FailedAttempt, { routing }: Pool): Outcome {
  if (failure.status !== undefined && routing.deactivation.errorCodes.has(failure.status)) return "failure";
  return next.standby !== undefined || failure.kind === "request" ? "none" : "failure";
}

/** A standby reported by the vendor applies in all pools. */
function applyStandby({ member, next: { standby } }: FailedAttempt, { plan: { pool }, clock }: RequestContext): void {
  if (standby === undefined) return;
  const { state, model: { instance } } = member;
  const now = clock.monotonic();
  if (standby.reason === "rate_limited") {
    return state.openModelBreaker(standby.reason, now, statedEnd(standby.until, clock, maxHintMs) ?? standby.standbyMs);
  }
  if (standby.reason === "model_not_found") return state.openModelBreakerForCooldown(standby.reason, now);
  const stated = statedEnd(standby.until, clock) ?? standby.standbyMs;
  const end = stated ?? quotaRecovery(pool.routing.recovery, instance.entry, clock);
  state.openProviderBreaker(standby.reason, now, end);
}

/**
 * Queries the provider after a response. New limits replace earlier ones, as those in headers do.
 *
 * @param member The model that responded.
 * @param permit The permit of the request.
 */
export function applyReportedLimits({ model: { info, instance } }: Member, permit: Permit): void {
  const answers = instance.answers?.get(info.id);
  if (answers === undefined || instance.connector !== undefined && answers.limits === undefined) return;
  let limits;
  try {
    limits = limitsIn(callNow(() => instance.provider!.getRateLimits(info.id)));
  } catch {
    return; // traced at startup
  }
  if (limits === undefined || isSameLimits(limits, answers.latestLimits ?? answers.limits ?? {})) return;
  answers.latestLimits = limits;
  permit.limit(limits);
}
