/**
 * Step 4: admission of models. A denial changes no state, since the next request may be smaller.
 * @module
 */
import { retryFor } from "../config/settings/routing.ts";
import type { ModelView } from "../contracts/rotation.ts";
import type { Member } from "../registry/registry.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import type { Permit } from "../state/model/permit.ts";
import { isFiltered } from "./failure.ts";
import type { FailedAttempt, RequestContext } from "./request_context.ts";

/** A request, and whether another model could serve it. */
export interface Admission {
  readonly context: RequestContext;
  /** Whether no other model could serve the request if this one fails. */
  readonly alone: boolean;
  /** The time of the check, monotonic ms. @default that of the clock */
  readonly now?: number;
}

/** A model that admits the request, and its permit. */
export interface AdmittedModel extends Admission {
  readonly member: Member;
  readonly permit: Permit;
}

/** Maximum number of models to which a request that fails as invalid is sent. */
const maxRequestFaults = 3;

/** Returns the eligible models that the request may still go to, in any state. */
export function untriedMembers(context: RequestContext): readonly Member[] {
  const { first, failures, tried, ruledOut, plan: { eligible, pool } } = context;
  if (first === undefined) return eligible;
  const { instance } = first.model;
  const { scope } = retryFor(pool.routing, instance.entry.id);
  const faults = failures.filter(({ failure }) => failure.kind === "request").length;
  if (scope === "same_model" || faults >= maxRequestFaults || findRefusal(context) !== undefined) return [];
  const untried = eligible.filter(({ model }) =>
    !tried.includes(model.name) && !ruledOut.includes(model.instance.entry.id) &&
    (scope === "any" || model.instance === instance)
  );
  return faults === 0 ? untried : withMoreRoom(untried, failures);
}

/** The refusal of content that ends a request, since it is not carried to other models. */
export function findRefusal({ failures, plan: { pool } }: RequestContext): FailedAttempt | undefined {
  const last = failures.at(-1);
  return last !== undefined && isFiltered(last.failure) && pool.routing.onContentFilter !== "rotate" ? last : undefined;
}

/**
 * Leaves out models that are known to have no more room than one whose context the request has exceeded. Models of the
 * same room are kept if there are no others, since tokenizers differ.
 */
function withMoreRoom(members: readonly Member[], failures: readonly FailedAttempt[]): readonly Member[] {
  const windows = failures.flatMap(({ member, failure }) =>
    failure.fault?.error.code === "context_length_exceeded" ? findWindow(member) ?? [] : []
  );
  if (windows.length === 0) return members;
  const exceeded = Math.max(...windows);
  const roomier = members.filter((member) => (findWindow(member) ?? Infinity) > exceeded);
  return roomier.length > 0 ? roomier : members.filter((member) => findWindow(member) === exceeded);
}

function findWindow({ model: { info } }: Member): number | undefined {
  return info.constraints?.context_window;
}

/**
 * Returns the active members whose limits and budgets admit the request. If no other model is left, the configured
 * request rate (`max_rpm`) is ignored; vendors' limits and budgets never are. A half-open model accepts one request at
 * a time, and further ones only if no other model is left, since availability has priority.
 *
 * The caller must admit the request in the same turn of the event loop, before anything changes.
 *
 * @param admission The request; its context receives the denials if no member is left.
 */
export function openMembers(members: readonly Member[], admission: Admission): readonly Member[] {
  const { now = admission.context.clock.monotonic() } = admission;
  let areFree = true;
  for (const { state } of members) {
    state.refresh(now);
    if (state.status === "standby" || state.breakers.hasTrialRequest) areFree = false;
  }
  if (areFree) return admitted(members, admission, now);
  const active = members.filter(({ state }) => state.status === "active");
  const free = active.filter(({ state }) => !state.breakers.hasTrialRequest);
  const open = admitted(free, admission, now);
  if (open.length > 0 || free.length === active.length) return open;
  return admitted(active.filter((member) => !free.includes(member)), admission, now);
}

/**
 * Waits for the configured minimum spacing of requests, if the wait is within the pool's maximum delay and the
 * deadline.
 *
 * @returns Whether it has waited; members may then admit the request.
 * @throws The client's abort reason, or the deadline.
 */
export async function waitForSpacing({ context, alone }: Admission): Promise<boolean> {
  if (!alone) return false;
  const { plan: { pool } } = context;
  const now = context.clock.monotonic();
  let soonest = Infinity;
  for (const [{ model }, { reason, until }] of context.denials) {
    const waitMs = until - now;
    const shouldWait = reason === "min_delta" && waitMs > 0 && waitMs < context.remainingMs &&
      waitMs <= retryFor(pool.routing, model.instance.entry.id).maxDelayMs;
    if (shouldWait) soonest = Math.min(soonest, waitMs);
  }
  if (soonest === Infinity) return false;
  await context.wait(soonest);
  return true;
}

/**
 * Returns the candidates without a denial; if all are denied, the best one that only the operator's `max_rpm` denies.
 */
function admitted(candidates: readonly Member[], { context, alone }: Admission, now: number): readonly Member[] {
  let denials: Map<Member, AdmissionDenial> | undefined;
  for (const member of candidates) {
    const denial = member.state.tracker.denial(context.plan.load, now) ?? context.takenElsewhere?.get(member);
    if (denial !== undefined) (denials ??= new Map()).set(member, denial);
  }
  if (denials === undefined) return candidates;
  if (denials.size < candidates.length) return candidates.filter((member) => !denials.has(member));
  for (const [member, denial] of denials) context.denials.set(member, denial);
  const spaced = alone ? candidates.filter((member) => denials.get(member)!.reason === "max_rpm") : [];
  return spaced.length === 0 ? [] : [highestHeadroom(spaced)];
}

/** The member with the most headroom; the first of equals. */
function highestHeadroom(members: readonly Member[]): Member {
  let best = members[0]!;
  let most = -1;
  for (const member of members) {
    const { requests }: ModelView = member.state;
    const left = requests === undefined ? 1 : requests.left / Math.max(1, requests.limit);
    if (left <= most) continue;
    best = member;
    most = left;
  }
  return best;
}
