/**
 * Records the failure of an attempt: for the model's counters and circuit breaker, its provider, the strategy, and the
 * request.
 * @module
 */
import { DeadlineError } from "../errors.ts";
import type { Pool } from "../registry/registry.ts";
import { maxHintMs } from "../state/breaker/circuit_breaker.ts";
import { quotaRecovery, statedEnd } from "../state/breaker/end_date.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import type { Outcome } from "../state/counters/usage.ts";
import type { AdmittedModel } from "./admission.ts";
import { describeOutcome, findWords, isOfCallerKey, recordProviderError } from "./failure.ts";
import type { FailedAttempt, RequestContext } from "./request_context.ts";
import { release } from "./result.ts";

/** A model that has not responded for this long when the deadline expires counts as failed, ms. */
const presumedDeadMs = 10_000;

/** Records a failed attempt. */
export function recordFailure(admitted: AdmittedModel, failed: FailedAttempt): void {
  const { context, member, permit } = admitted;
  const { failure, denial } = failed;
  if (denial !== undefined) return recordDenial(admitted, denial);
  const { kind, status } = failure;
  const { instance } = member.model;
  const isOfCaller = isOfCallerKey(failure, context.plan.callerKeys?.get(instance.entry.id));
  const ms = context.clock.monotonic() - permit.admittedAt;
  context.addStep(member, { outcome: describeOutcome(failure), ms, status, error: findWords(failure) });
  if (isOfCaller) {
    context.plan.isConstrained = true; // where the request goes from here does not affect the pool
    release(admitted, "none");
  } else {
    recordProviderError(instance, failure, context.deps);
    release(admitted, classifyOutcome(failed, context.plan.pool), { end: { status, kind } });
  }
  context.failures.push(failed);
  const isProviders = kind === "auth" || kind === "quota_exhausted" || failure.neverSent;
  if (isProviders) context.ruledOut = context.ruledOut.concat(instance.entry.id);
  if (!isOfCaller) applyStandby(failed, context);
}

/** Releases an admitted request that was not sent, since other processes have taken what it had reserved. */
function recordDenial(admitted: AdmittedModel, denial: AdmissionDenial): void {
  const { context, member } = admitted;
  context.tried = context.tried.filter((name) => name !== member.model.name);
  if (context.chain.length === 0 && context.first === member) context.first = undefined;
  (context.takenElsewhere ??= new Map()).set(member, denial);
  release(admitted, "none");
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
  const isToBlame = DeadlineError.isInstance(error) && context.withoutResponseMs >= presumedDeadMs;
  release(admitted, isToBlame ? "failure" : "none");
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
    return state.breakers.openModel(
      standby.reason,
      now,
      statedEnd(standby.until, clock, maxHintMs) ?? standby.standbyMs,
    );
  }
  if (standby.reason === "model_not_found") return state.breakers.openModelForCooldown(standby.reason, now);
  const stated = statedEnd(standby.until, clock) ?? standby.standbyMs;
  const end = stated ?? quotaRecovery(pool.routing.recovery, instance.entry, clock);
  state.breakers.openProvider(standby.reason, now, end);
}
