/**
 * Selects the row of the error table if no model has served a request, from all eligible models, tried or in standby.
 * @module
 */
import type { ProviderFault } from "../contracts/provider.ts";
import type { StandbyReason } from "../contracts/rotation.ts";
import { BudgetExceededError, type MeshError, NoActiveModelError, ProviderError, RateLimitError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import { maxHintMs } from "../state/breaker/circuit_breaker.ts";
import { findRefusal } from "./admission.ts";
import { describeLeft } from "../util/budget_text.ts";
import { mayPass } from "../util/passing.ts";
import { describeOutcome, isOverloaded } from "./failure.ts";
import type { FailedAttempt, RequestContext } from "./request_context.ts";

/** Returns the error of a request that no model has served. */
export function createRequestError(context: RequestContext): MeshError {
  const { plan: { eligible, pool }, failures, clock } = context;
  const refusal = findRefusal(context);
  if (refusal !== undefined) return createRejection(refusal.failure.fault!, { failures, isFinal: true });
  const now = clock.monotonic();
  for (const member of eligible) {
    member.state.refresh(now);
    addScopeDenial(member, context, now);
  }
  const kinds = new Set(eligible.flatMap((member) => exclusionReason(member, context) ?? []));
  const retryAfterMs = soonest(eligible, context, now);
  const [kind] = kinds.size === 1 ? kinds : [];
  const recovery = retryAfterMs === undefined ? "" : `; the first recovers in ${Math.ceil(retryAfterMs / 1000)} s`;
  if (kind === "rate_limited") {
    const message = `Every model of the pool "${pool.name}" is rate-limited${recovery}`;
    return new RateLimitError(message, {
      code: "rate_limit_exceeded",
      retryAfterMs: retryAfterMs ?? failureWaitMs(context), // the limit of a caller's key leaves no standby
    });
  }
  const spent = `Every budget for the pool "${pool.name}" is spent`;
  const limited = context.plan.load.scopes?.createError(kind, {
    spent,
    describeLeft,
    retryAfterMs,
    denials: context.denials,
  });
  if (limited !== undefined) return limited;
  if (kind === "quota_exhausted") {
    const message = `The quota of every model of the pool "${pool.name}" is exhausted`;
    return new RateLimitError(message, { code: "insufficient_quota", retryAfterMs });
  }
  if (kind === "budget") {
    return new BudgetExceededError(describeBudgets(spent, context), retryAfterMs);
  }
  if (failures.length > 0) {
    return createRefusedKeys(context) ??
      createProviderError(failures, failureWaitMs(context) ?? passingWaitMs(failures, retryAfterMs));
  }
  const reasons = eligible.map((member) =>
    [member.state.name, member.state.reason ?? exclusionReason(member, context) ?? "unknown"] as const
  );
  const list = reasons.map(([name, reason]) => `${name} (${reason})`).join(", ");
  return new NoActiveModelError(
    `Every model of the pool "${pool.name}" is in standby${recovery}: ${list}`,
    { retryAfterMs, reasons: Object.fromEntries(reasons) },
  );
}

/**
 * The message of a request for which no budget of the mesh suffices. Clients with a name see no amounts, which are also
 * those of others.
 */
function describeBudgets(spent: string, { plan: { eligible, request, load }, deps }: RequestContext): string {
  const wallTimeMs = deps.runtime.clock.now();
  const budgets = new Set(eligible.flatMap(({ state }) => state.tracker.listBudgets(load)));
  const left = [...budgets].flatMap((budget) => {
    const text = describeLeft(budget.windows(wallTimeMs));
    return text === undefined ? [] : `the ${budget.name === "all" ? "total budget" : budget.name} has ${text}`;
  });
  const isSpent = [...budgets].some((budget) => budget.isSpent(wallTimeMs));
  const message = isSpent ? spent : `${spent}, or too little is left for this request`;
  return request.client !== undefined || left.length === 0 ? message : `${message}: ${left.join(", ")}`;
}

/** The error of a request whose own keys were all refused; undefined for any other. */
function createRefusedKeys({ failures, plan: { callerKeys } }: RequestContext): ProviderError | undefined {
  const isRefused = ({ failure, member }: FailedAttempt) =>
    failure.kind === "auth" && callerKeys?.has(member.model.instance.entry.id) === true;
  if (callerKeys === undefined || !failures.every(isRefused)) return undefined;
  const attempts = listAttempts(failures);
  const { model, provider } = attempts.at(-1)!;
  const names = [...new Set(attempts.map((attempt) => attempt.provider))].join(", ");
  const message = `The key in x-provider-key was refused by its provider: ${names}`;
  const facts = { type: "invalid_request_error", param: "x-provider-key", provider, model, attempts };
  return new ProviderError(message, { ...facts, code: "invalid_provider_key", status: 401 });
}

/**
 * Adds a denial for a model in standby if the request exceeds a limit of its client, team, tags or end user, since the
 * end of the standby would not help.
 */
function addScopeDenial(member: Member, { plan, denials }: RequestContext, now: number): void {
  if (plan.load.scopes === undefined || member.state.status !== "standby") return;
  const denial = member.state.tracker.denial(plan.load, now);
  if (denial?.reason === "budget" || denial?.reason === "client_limit") denials.set(member, denial);
}

/** The reason a candidate has not served; undefined for one that was skipped because its provider was excluded. */
function exclusionReason(candidate: Member, { failures, denials }: RequestContext): string | undefined {
  const failed = failures.find(({ member }) => member.model === candidate.model);
  return failed?.failure.kind ?? toErrorKind(denials.get(candidate)?.reason ?? candidate.state.reason);
}

/** Maps denials and standbys to the error table. */
function toErrorKind(reason: AdmissionDenial["reason"] | StandbyReason | undefined): string | undefined {
  if (reason === "budget_limit" || reason === "provider_budget") return "budget";
  return reason === "min_delta" || reason === "max_rpm" ? "rate_limited" : reason;
}

/** The shortest wait that a provider named for a failure, ms. */
function failureWaitMs({ failures, deps: { runtime: { clock } } }: RequestContext): number | undefined {
  const waits = failures.flatMap(({ failure: { retryAfterMs, retryAt } }) => {
    return retryAt === undefined ? retryAfterMs ?? [] : Math.max(0, retryAt - clock.now());
  });
  return waits.length === 0 ? undefined : Math.min(...waits, maxHintMs);
}

/** The time until the first model recovers, if what failed may pass. */
function passingWaitMs(failures: readonly FailedAttempt[], recoveryMs: number | undefined): number | undefined {
  return failures.some(({ failure }) => isOverloaded(failure) || mayPass(failure)) ? recoveryMs : undefined;
}

function createProviderError(failures: readonly FailedAttempt[], retryAfterMs: number | undefined): ProviderError {
  const { fault } = failures[0]!.failure;
  if (fault !== undefined && failures.every(({ failure }) => failure.kind === "request")) {
    return createRejection(fault, { failures });
  }
  const attempts = listAttempts(failures);
  const { model, provider } = attempts.at(-1)!;
  const facts = { type: "server_error", provider, model, attempts };
  if (failures.every(({ failure }) => failure.kind === "auth")) {
    const tokens = failures.flatMap((attempt) => describeRefusedToken(attempt) ?? []);
    const message = tokens.length === failures.length
      ? [...new Set(tokens)].join(". ")
      : `Every provider refused the key configured for it: ${
        [...new Set(failures.map(describeRefusedKey))].join(", ")
      }`;
    return new ProviderError(message, { ...facts, code: "upstream_auth_error", status: 502 });
  }
  const tried = failures.map(describeFailure).join(", ");
  const message = `Every model that was tried failed: ${[tried, ...collectHints(failures)].join(". ")}`;
  return failures.every(({ failure }) => isOverloaded(failure))
    ? new ProviderError(message, { ...facts, code: "overloaded", status: 503, retryAfterMs })
    : new ProviderError(message, { ...facts, code: "all_attempts_failed", status: 502, retryAfterMs });
}

/**
 * The error of a provider that rejects the request, for the client.
 *
 * @param isFinal Whether it is that of the last model, and holds for all others; else that of the first one.
 */
function createRejection(
  fault: ProviderFault,
  { failures, isFinal = false }: { readonly failures: readonly FailedAttempt[]; readonly isFinal?: boolean },
): ProviderError {
  const { error } = fault;
  const attempts = listAttempts(failures);
  const { model, provider } = attempts.at(isFinal ? -1 : 0)!;
  return new ProviderError(error.message, {
    code: error.code ?? "invalid_value",
    status: statusOfFault(fault),
    type: error.type || "invalid_request_error",
    param: error.param,
    provider,
    model,
    attempts,
    ...(isFinal && { isFinal }),
  });
}

function listAttempts(failures: readonly FailedAttempt[]): ProviderError["attempts"] {
  return failures.map(({ member, failure }) => ({
    model: member.model.name,
    provider: member.model.instance.entry.id,
    kind: failure.kind,
    ...(failure.status === undefined ? {} : { status: failure.status }),
  }));
}

function describeFailure({ member, failure }: FailedAttempt): string {
  const { status, host } = failure;
  return `${member.model.name} (${
    [describeOutcome(failure), status, host].filter((fact) => fact !== undefined).join(", ")
  })`;
}

function describeRefusedKey({ member, failure: { status, host } }: FailedAttempt): string {
  const at = host === undefined ? "" : ` at ${host}`;
  return `${member.model.instance.entry.id}${status === undefined ? "" : ` (${status})`}${at}`;
}

/**
 * What to do if the provider is a ModelMesh proxy that does not accept the token of this program, which is not a key of a
 * provider; undefined otherwise. Only the message of a proxy begins in this way; it is not quoted.
 */
function describeRefusedToken({ member, failure: { fault, host } }: FailedAttempt): string | undefined {
  const [message, isMissing] = /^(A bearer token is needed)|^The bearer token /.exec(fault?.error.message ?? "") ?? [];
  if (message === undefined) return undefined;
  const what = isMissing ? "requires a token, and none was sent" : "does not accept the token that was sent";
  const { id } = member.model.instance.entry;
  return `The proxy at ${host} ${what}: set the API key of "${id}" (apiKey, or api_key in a configuration) to a token ` +
    "of the proxy, which has them from --token, MODELMESH_TOKEN and proxy.auth";
}

/** Messages of failures without an error from the provider, and refused keys. They contain the advice for the caller. */
function collectHints(failures: readonly FailedAttempt[]): Set<string> {
  return new Set(failures.flatMap((attempt) => {
    const { member, failure: { fault, kind, message } } = attempt;
    if (kind === "auth") {
      return describeRefusedToken(attempt) ?? `The provider "${member.model.instance.entry.id}" refused its key`;
    }
    return fault === undefined ? message : [];
  }));
}

function soonest(members: readonly Member[], { denials }: RequestContext, now: number): number | undefined {
  const ends = members.flatMap((member) => {
    const times = [member.state.retryAt, denials.get(member)?.until].filter((time) => time !== undefined);
    return times.length === 0 ? [] : Math.max(...times);
  });
  const end = Math.min(...ends);
  return end < Infinity ? Math.max(0, end - now) : undefined;
}

/** Statuses that would accuse the client of what is not its own. */
const foreignStatuses: ReadonlySet<number> = new Set([401, 402, 403, 404]);

/** An invalid request reported inside a 200 response gets the status of its own code, else 400; so does one with 500. */
function statusOfFault({ status, error }: ProviderFault): number {
  if (status >= 400 && status < 500) return foreignStatuses.has(status) ? 400 : status;
  const inner = Number(error.code);
  return inner === 413 || inner === 422 ? inner : 400;
}
