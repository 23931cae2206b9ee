/**
 * Step 4: the models that may be asked now. Denying a request changes no state: the next one may be smaller.
 * @module
 */
import { retryFor } from "../config/settings/routing.ts";
import type { ModelView } from "../contracts/rotation.ts";
import type { Member } from "../registry/registry.ts";
import type { AdmissionDenial } from "../state/limits/admission_denial.ts";
import type { Permit } from "../state/limits/permit.ts";
import type { RequestContext } from "./request_context.ts";

/** For which request members are admitted. */
export interface Admission {
  readonly context: RequestContext;
  /** No other model could take the request, should this one fail. */
  readonly alone: boolean;
}

/** A model that may be asked, and its permit. */
export interface AdmittedModel extends Admission {
  readonly member: Member;
  readonly permit: Permit;
}

/**
 * Members that are active and that no limit and no budget denies. Requests a minute that the operator configured give way when
 * no other model is left; limits of vendors and money never do. A half-open model takes one request at a time; further
 * ones only when no other model is left, since answering comes first.
 *
 * Admitting one of them in the same turn of the event loop is safe: nothing comes between.
 *
 * @param members Candidates so far.
 * @param admission The request; its context takes the denials when nothing is left.
 */
export function openMembers(members: readonly Member[], admission: Admission): readonly Member[] {
  const now = admission.context.clock.monotonic();
  const free: Member[] = [];
  let halfOpen: Member[] | undefined;
  for (const member of members) {
    const { state } = member;
    state.refresh(now);
    if (state.status === "standby") continue;
    if (state.hasTrialRequest) (halfOpen ??= []).push(member);
    else free.push(member);
  }
  const open = admitted(free, admission, now);
  return open.length > 0 || halfOpen === undefined ? open : admitted(halfOpen, admission, now);
}

/**
 * Waits for the spacing that the operator configured between two requests, where that fits within the pool's longest wait and
 * the deadline.
 *
 * @param admission The request.
 * @returns Whether it has waited: then members may be open.
 * @throws The client's abort, or the deadline.
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
 * Whether a model that was tried may be asked once more for the same request; if so, that call is counted.
 *
 * @param admitted The model.
 */
export async function readmit(admitted: AdmittedModel): Promise<boolean> {
  const { context: { plan, clock }, member, permit } = admitted;
  while (openMembers([member], admitted).length === 0) {
    if (!await waitForSpacing(admitted)) return false;
  }
  permit.renew(plan.load, clock.monotonic());
  return await permit.confirm(clock) === undefined;
}

/** Candidates that nothing denies; where all are denied, one that is denied by a wish of the operator alone. */
function admitted(candidates: readonly Member[], { context, alone }: Admission, now: number): readonly Member[] {
  let denials: Map<Member, AdmissionDenial> | undefined;
  for (const member of candidates) {
    const denial = member.state.denial(context.plan.load, now) ?? context.takenElsewhere.get(member);
    if (denial !== undefined) (denials ??= new Map()).set(member, denial);
  }
  if (denials === undefined) return candidates;
  if (denials.size < candidates.length) return candidates.filter((member) => !denials.has(member));
  for (const [member, denial] of denials) context.denials.set(member, denial);
  const spaced = alone ? candidates.filter((member) => denials.get(member)!.reason === "max_rpm") : [];
  return spaced.length === 0 ? [] : [highestHeadroom(spaced)];
}

/** The one with most headroom; the first of equals. */
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
