/**
 * What a request means for the model that its pool is with: what is reported to the strategy, and `rotation` events.
 * @module
 */
import type { FallbackStep } from "../contracts/events.ts";
import type { SelectionOutcome } from "../contracts/rotation.ts";
import type { Hub } from "../observe/hub.ts";
import { notifySafely } from "../observe/notify.ts";
import type { Member, Pool } from "../registry/registry.ts";
import type { RequestPlan } from "./plan.ts";
import type { RequestContext } from "./request_context.ts";

/** A choice of the pool's strategy. */
interface Choice {
  readonly member: Member;
  /** The models it was chosen from. */
  readonly candidates: readonly Member[];
}

/**
 * Whether what becomes of a request means nothing for others: it has routing constraints, or the pool's model cannot take it.
 *
 * @param plan The request.
 */
export function isIsolated({ isConstrained, pool: { strategy, members }, eligible }: RequestPlan): boolean {
  if (isConstrained) return true;
  return eligible.length < members.length && strategy.current !== undefined &&
    !eligible.some(({ model }) => model.name === strategy.current);
}

/**
 * Reports a rotation: that a request goes on after a failed attempt, or that the pool is with another model.
 *
 * @param choice The model chosen.
 * @param context The request.
 */
export function reportChoice(choice: Choice, context: RequestContext): void {
  const { member } = choice;
  const { plan, deps: { hub } } = context;
  const { pool, request } = plan;
  const previous = context.chain.at(-1);
  if (previous !== undefined) {
    if (isNewRotation(previous, choice, context)) {
      const metadata = {
        request_id: request.id,
        ...(previous.status === undefined ? {} : { status: previous.status }),
      };
      hub.event({ ...rotationOf(pool, previous.model, member), reason: previous.outcome, metadata });
    }
  } else if (!isIsolated(plan)) {
    const before = pool.current;
    const after = moveTo(choice, pool);
    const reason = before && before !== after && causeOf(before, after, context);
    if (reason) {
      hub.event({ ...rotationOf(pool, before.model.name, after), reason, metadata: { request_id: request.id } });
    }
    member.standbysSeen = member.state.standbyCount;
  }
  context.rotationsSeen = pool.rotations.count;
}

/**
 * Reports to the strategy that a model failed. A request with routing constraints means nothing for the pool.
 *
 * @param member The model.
 * @param context The request.
 */
export function reportFailure({ model }: Member, { plan, deps }: RequestContext): void {
  if (!plan.isConstrained) report({ failed: new Set([model.name]) }, plan.pool, deps.hub);
}

/**
 * Makes the model that answered the pool's current one, and reports to the strategy which ones did not.
 *
 * @param member The model.
 * @param context The request.
 */
export function reportServed(member: Member, { plan, chain, deps }: RequestContext): void {
  if (plan.isConstrained) return;
  const { pool } = plan;
  const { model, state } = member;
  const failed = chain.filter((step) => step.model !== model.name && !isOwnFault(step, pool));
  if (failed.length > 0) report({ failed: new Set(failed.map((step) => step.model)), served: state }, pool, deps.hub);
  if (!isIsolated(plan)) moveTo({ member, candidates: pool.members }, pool);
}

/** Takes note of a failed attempt's rotation. Requests that fail at once move their pool once. */
function isNewRotation(previous: FallbackStep, { member }: Choice, { plan, rotationsSeen }: RequestContext): boolean {
  const { pool } = plan;
  if (isIsolated(plan) || isOwnFault(previous, pool)) return true;
  if (!pool.rotations.add(previous.model, member.model.name, rotationsSeen)) return false;
  pool.current = member;
  return true;
}

/** The pool is with the model that its strategy stays with, else with the one chosen. */
function moveTo({ member, candidates }: Choice, pool: Pool): Member {
  const { current } = pool.strategy;
  const isChosen = current === undefined || current === member.model.name;
  return pool.current = (isChosen ? undefined : candidates.find(({ model }) => model.name === current)) ?? member;
}

/** Why a pool is with another model; undefined where its strategy shares requests out. */
function causeOf({ state }: Member, after: Member, context: RequestContext): string | undefined {
  const { plan: { pool: { strategy }, load }, clock } = context;
  if (state.status === "standby") return state.reason;
  if (strategy.current === undefined) {
    const { standbysSeen, state } = after;
    return standbysSeen !== undefined && state.standbyCount > standbysSeen ? "recovery" : undefined;
  }
  if (state.hasTrialRequest) return "half_open";
  const denial = state.denial(load, clock.monotonic());
  return denial?.reason ?? (state.consecutiveFailures > 0 ? "failure" : "threshold");
}

/** Whether the request itself was at fault, by a code that does not count toward deactivation. */
function isOwnFault({ outcome, status }: FallbackStep, { routing }: Pool): boolean {
  return outcome === "request" && !(status !== undefined && routing.deactivation.errorCodes.has(status));
}

function rotationOf({ name: pool }: Pool, from: string, { model: { name, instance } }: Member) {
  return { event: "rotation", pool, model: name, provider: instance.entry.id, from, to: name } as const;
}

function report(outcome: SelectionOutcome, pool: Pool, hub: Hub): void {
  const message = `The strategy of the pool "${pool.name}" failed`;
  notifySafely(
    () => pool.strategy.observe?.(outcome),
    () => hub.trace({ severity: "error", component: "pool", message }),
  );
}
