/**
 * Step 6, first half: calls to one model, until one succeeds or the request rotates.
 * @module
 */
import { retryFor } from "../config/settings/routing.ts";
import { type AdmittedModel, openMembers, untriedMembers, waitForSpacing } from "./admission.ts";
import { decide, type Rotate } from "./decide.ts";
import type { FailedAttempt } from "./request_context.ts";
import { adaptRequest } from "./adapt_request.ts";
import type { KeyRejection } from "../state/limits/api_key_pool.ts";
import { AttemptTimeout, describeOutcome, type Failure, toFailure } from "./failure.ts";
import { NetworkError } from "../errors.ts";
import type { AdmittedCall } from "../state/model/admitted_call.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import { isOverload } from "../util/resource_lack.ts";
import { Connection } from "./connection.ts";
import { findFirstContentLimit } from "./time_limits.ts";
import { type Call, type Received, Result, type SentRequest } from "./result.ts";

/**
 * Calls one model, at once without a member that it rejects and the client has not sent. This is not a retry: it does
 * not use the retry budget, has no delay, and does not count as a failure of the model. What it rejects is remembered
 * once it has served the request without it.
 *
 * @throws The client's abort reason or the deadline. A failure of the model is returned.
 */
export function tryModel<T extends Received>(scope: AttemptScope<T>): Promise<Result<T> | RefusedTry> {
  const { member: { state: { tracker } }, added } = scope;
  const tryAdapted = tracker.keys === undefined ? tryOnce<T> : tryKeys<T>;
  return added?.length ? tryWithout(scope, tryAdapted) : tryAdapted(scope);
}

/**
 * Retries after a delay, as long as the decision about a failed attempt requires.
 *
 * @param end The failed attempt.
 * @throws The client's abort reason or the deadline. A failure of the model is returned.
 */
export async function retry<T extends Received>(
  scope: AttemptScope<T>,
  end: RefusedTry,
): Promise<Result<T> | FailedAttempt> {
  const { context, member } = scope;
  const { clock, plan, deps: { runtime: { random } } } = context;
  const { entry, retryBudget } = member.model.instance;
  let last: FailedAttempt | undefined;
  for (let retries = 0;; retries++) {
    const { failure, denial } = end;
    if (denial !== undefined) return last ?? { member, failure, denial, next: { step: "rotate" } };
    const next = end.next ?? decide(failure, {
      retries,
      settings: retryFor(plan.pool.routing, entry.id),
      // at the time of the failure: others may have entered or left standby meanwhile
      alone: openMembers(untriedMembers(context), scope).length === 0,
      remainingMs: context.remainingMs,
      tryLimitMs: findTryLimit(scope),
      random,
    });
    if (next.step === "rotate") return { member, failure, next };
    last = { member, failure, next: next.otherwise };
    if (!retryBudget.withdraw(clock.monotonic())) return last;
    member.state.tracker.shared.rate.onFreed?.(); // others may be served meanwhile
    await context.wait(next.delayMs);
    // not if it is in standby by now, or if another call would exceed a limit
    if (!await readmit(scope)) return last;
    const retried = await tryModel(scope);
    if (retried instanceof Result) return retried;
    end = retried;
  }
}

async function tryWithout<T extends Received>(
  scope: AttemptScope<T>,
  tryAdapted: (scope: AttemptScope<T>) => Promise<Result<T> | RefusedTry>,
): Promise<Result<T> | RefusedTry> {
  const { context, member: { model, state: { tracker } }, added = [] } = scope;
  let end = await tryAdapted(scope);
  const rejected: string[] = [];
  for (let left = added; !(end instanceof Result);) {
    const blamed = findBlamedMember(end.failure, left);
    if (blamed === undefined || !await readmit(scope)) return end;
    rejected.push(blamed);
    left = left.filter((name) => name !== blamed);
    const adapted = adaptRequest(
      context.plan.request,
      model,
      new Set([...tracker.shared.rejectedMembers, ...rejected]),
    );
    end = await tryAdapted({ ...scope, ...adapted });
  }
  for (const name of rejected) tracker.shared.rejectedMembers.add(name);
  return end;
}

/** The timeout of one try, ms. */
function findTryLimit<T extends Received>({ context: { plan }, member, completion }: AttemptScope<T>): number {
  const { timeoutMs, silenceMs } = member.model.instance.entry;
  if (!completion.stream) return timeoutMs;
  const first = findFirstContentLimit(plan, member);
  return first === undefined ? silenceMs : Math.min(first.limitMs, first.silenceMs ?? Infinity);
}

/** A try that failed with every available API key. */
interface RefusedTry extends FailedTry {
  /** The decision; undefined if not yet made. */
  readonly next?: Rotate;
}

/**
 * Calls one model with one API key after the other, until a key is accepted. This is not a retry: it does not use the
 * retry budget, has no delay, and does not count as a failure of the model.
 *
 * @param scope The attempt, at a provider with several keys.
 * @throws The client's abort reason or the deadline. A failure of the model is returned.
 */
async function tryKeys<T extends Received>(scope: AttemptScope<T>): Promise<Result<T> | RefusedTry> {
  let last: RefusedTry | undefined;
  for (let tries = 1;; tries++) {
    const end = await tryOnce(scope);
    if (end instanceof Result) return end;
    if (end.denial !== undefined) return last ?? end;
    const { failure, reservation } = end;
    const rejection = reservation?.rejectApiKey(failure);
    if (rejection === undefined) return end;
    if (rejection.isNew) trace(rejection, failure, scope);
    // each key once, however short its standby
    if (rejection.refusal !== undefined || tries >= rejection.of) {
      return { failure: { ...failure, ...rejection.refusal } };
    }
    // in standby by now: the rejection of one of several keys does not extend it
    last = { failure, next: { step: "rotate" } };
    if (!await readmit(scope)) return last;
  }
}

function trace<T extends Received>(
  { position, of, standbyMs }: KeyRejection,
  { kind }: Failure,
  { member: { state: { provider } }, context: { deps } }: AttemptScope<T>,
): void {
  const seconds = Math.ceil(standbyMs / 1000);
  const message = `Key ${position} of ${of} of the provider "${provider}" is in standby for ${seconds} s: ${kind}`;
  deps.hub.trace({ severity: "warning", component: "provider", message, provider });
}

let queues: Promise<typeof import("./request_queue.ts")> | undefined;

/** Imports what few pools need, once: requests that await it continue in the order of their arrival. */
export function loadQueues(): Promise<typeof import("./request_queue.ts")> {
  return queues ??= import("./request_queue.ts");
}

/** Readmits a request at a model that has already been tried. If it is admitted, the call is counted. */
async function readmit(admitted: AdmittedModel): Promise<boolean> {
  const { context: { plan, clock }, member, permit } = admitted;
  if (plan.pool.routing.queue !== undefined) {
    const { readmitInOrder } = await loadQueues();
    return await readmitInOrder(admitted);
  }
  while (openMembers([member], admitted).length === 0) {
    if (!await waitForSpacing(admitted)) return false;
  }
  const { affinity, load } = plan;
  permit.renew(affinity === undefined ? load : affinity.withKey(load, member), clock.monotonic());
  affinity?.select(member, permit);
  return await permit.confirm(clock) === undefined;
}

/** An attempt: one model for one request. */
interface AttemptScope<T extends Received> extends AdmittedModel, SentRequest {
  /** Parameters omitted because the model rejects them. */
  readonly dropped: readonly string[];
  /** Members that ModelMesh has added to the request. */
  readonly added?: readonly string[];
  readonly call: Call<T>;
}

/** A failed try. */
interface FailedTry {
  readonly failure: Failure;
  /** The reservation of the call. */
  readonly reservation?: AdmittedCall | undefined;
  /** Why it was not sent: other processes have taken what it had reserved. */
  readonly denial?: AdmissionDenial;
}

/** A try that has begun. */
interface BegunTry<T extends Received> {
  readonly scope: AttemptScope<T>;
  readonly reservation: AdmittedCall;
  readonly connection: Connection;
  /** Monotonic ms. */
  readonly startedAt: number;
}

/**
 * Calls one model once.
 *
 * @throws The client's abort reason or the deadline. A failure of the model is returned.
 */
async function tryOnce<T extends Received>(scope: AttemptScope<T>): Promise<Result<T> | FailedTry> {
  // few variables: those of an async function are allocated
  const begun = begin(scope);
  const { connection } = begun;
  try {
    return accept(begun, await connection.untilAborted(scope.call(scope.member, scope, connection)));
  } catch (error) {
    return fail(begun, error);
  }
}

/** Opens the connection of a try, which ends with its request. */
function begin<T extends Received>(scope: AttemptScope<T>): BegunTry<T> {
  const { context, member, completion, permit } = scope;
  context.withoutResponseMs = 0; // not the wait of an earlier model
  context.check();
  const { instance } = member.model;
  const { plan, deps: { runtime, hub } } = context;
  const { request: { operation, userAgent } } = plan;
  const reservation = permit.take();
  const connection = new Connection(runtime, instance, {
    delivery: completion.stream ? "stream" : "sync",
    spending: reservation,
    firstContent: completion.stream || operation.hasContent ? findFirstContentLimit(plan, member) : undefined,
    callerKey: plan.callerKeys?.get(instance.entry.id),
  });
  const trace = hub.exportsSpans ? context.beginSpan() : plan.request.trace;
  if (trace !== undefined) connection.trace = trace;
  connection.userAgent = userAgent;
  context.follow(connection);
  return { scope, reservation, connection, startedAt: context.clock.monotonic() };
}

/** Ends a try that has a response. */
function accept<T extends Received>({ scope, connection, startedAt }: BegunTry<T>, received: T): Result<T> {
  const { context, member } = scope;
  const { isEmpty, modelId: model } = received;
  const now = context.clock.monotonic();
  const ms = now - startedAt;
  context.attempts += connection.calls;
  context.upstreamMs += ms;
  context.addTry(member, { outcome: isEmpty ? "empty" : "ok", ms, model, trace: connection.trace });
  return new Result(scope, { received, connection, dropped: scope.dropped, now });
}

/** Ends a try that has thrown. Rethrows errors that are not failures of the model. */
function fail<T extends Received>(
  { scope: { context, member }, reservation, connection, startedAt }: BegunTry<T>,
  error: unknown,
): FailedTry {
  const { denial, trace } = connection;
  const ms = context.clock.monotonic() - startedAt;
  context.attempts += connection.calls;
  context.upstreamMs += ms;
  const redact = connection.toRedaction(context.deps.redact);
  if (denial !== undefined && !context.isStopped) {
    reservation.cancel();
    return { failure: toFailure(error, member.model.instance.provider!, redact), denial };
  }
  const lacksResources = isOverload(error);
  const isUnsent = lacksResources || NetworkError.isInstance(error) && error.neverSent;
  const wasSent = connection.calls > 0 && !isUnsent;
  // a provider that has sent a head may have generated, too
  const isCut = connection.stop.reason instanceof AttemptTimeout || NetworkError.isInstance(error);
  context.possiblyBilled ||= wasSent && (isCut || !connection.hasResponse);
  const isStream = context.plan.request.delivery === "stream";
  context.withoutResponseMs = (isStream ? connection.hasContent : connection.hasResponse) ? 0 : ms;
  if (wasSent && context.isStopped) {
    reservation.end({}); // may be billed: it counts as reserved
    context.addCharge({ costNanoUsd: reservation.costNanoUsd, estimated: true });
  } else if (lacksResources || context.isStopped) reservation.cancel(); // not an outage of the provider
  else reservation.fail(wasSent);
  if (context.isStopped || lacksResources) context.addTry(member, { outcome: "aborted", ms, trace });
  context.check();
  if (lacksResources) throw error;
  const reason = connection.stop.aborted ? connection.stop.reason : error;
  const failure = { ...toFailure(reason, member.model.instance.provider!, redact), host: connection.host };
  context.addTry(member, { outcome: describeOutcome(failure), status: failure.status, ms, trace });
  connection.abort(error); // releases the socket of a response that is not read completely
  return { failure, reservation };
}

/** Statuses of requests that a provider rejects as invalid. */
const rejections: ReadonlySet<number | undefined> = new Set([400, 422]);

/** Names that are not English words: an error that contains one means the member. Others count only in quotation marks. */
const unmistakable = /_|logprobs/;

/**
 * Returns the first of some members that a failure blames; undefined if it blames none of them.
 *
 * @param failure The failure of a try.
 * @param names The names of the members.
 */
function findBlamedMember({ status, fault }: Failure, names: readonly string[]): string | undefined {
  if (fault === undefined || !rejections.has(status)) return undefined;
  const { message, param } = fault.error;
  const path = param?.split(/[.[]/) ?? [];
  return names.find((name) => path.includes(name) || mentions(message, name));
}

function mentions(message: string, name: string): boolean {
  return unmistakable.test(name)
    ? message.split(/\W+/).includes(name)
    : [`"${name}"`, `'${name}'`, `\`${name}\``].some((quoted) => message.includes(quoted));
}
