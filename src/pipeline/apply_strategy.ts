/**
 * Step 5: selection of one candidate.
 * @module
 */
import type {
  ModelView,
  SelectionContext,
  SelectionOutcome,
  SelectionStrategy,
  StandbyReason,
} from "../contracts/rotation.ts";
import type { Hub } from "../observe/hub.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { findLeadingTier, isListed } from "../rotation/tiers.ts";
import { notifySafely, requireResult } from "../util/once.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import type { Load } from "../state/model/usage.ts";
import type { ModelState } from "../state/model/model_state.ts";
import { firstGuess } from "../state/metrics/output_tokens.ts";
import type { FallbackStep } from "../contracts/events.ts";
import type { RequestPlan } from "./eligibility.ts";
import { contentFilter } from "./failure.ts";
import type { RequestContext } from "./request_context.ts";

/**
 * Applies the pool's strategy to the leading priority tier of the candidates, then its fallback, else selects the first
 * candidate. A strategy that throws does not fail the request.
 *
 * @param candidates At least one.
 * @param pool The pool, with its strategy.
 */
export function applyStrategy(candidates: readonly Member[], pool: Pool, scope: StrategyScope): Member {
  const states = candidates.map(({ state }) => state);
  const tier = findLeadingTier(states, scope.context, pool);
  const selected = select(tier.strategy, tier.candidates, scope) ?? select(tier.fallback, tier.candidates, scope);
  const isCandidate = tier.candidates.includes(selected as ModelState);
  return candidates[states.indexOf(isCandidate ? selected as ModelState : tier.candidates[0]!)]!;
}

/** What a strategy is applied with. */
interface StrategyScope {
  /** The facts available to the strategy. */
  readonly context: SelectionContext;
  /** Receives a trace if the strategy fails. */
  readonly hub: Hub;
}

function select(
  strategy: SelectionStrategy | undefined,
  states: readonly ModelState[],
  { context, hub }: StrategyScope,
): ModelView | undefined {
  try {
    return strategy && requireResult(strategy.select(states, context));
  } catch {
    hub.trace({
      severity: "error",
      component: "pool",
      message: `The strategy of the pool "${context.pool}" failed`,
    });
    return undefined;
  }
}

const none: ReadonlySet<string> = new Set();

/** Maximum estimated output, so that prices stay comparable for requests with a high limit. */
const maxOutput = 1e8;

/**
 * Creates a strategy's view of a request. Costs are compared by one estimate for all models, since a model with short
 * responses would otherwise seem cheap.
 *
 * @param runtime Monotonic clock and random numbers.
 */
export function selectionContext(
  selection: Pick<SelectionContext, "isConstrained" | "session"> & {
    /** Monotonic ms. @default that of the clock */
    readonly now?: number | undefined;
    /** Names of the models tried. @default none */
    readonly tried?: readonly string[];
    readonly pool: Pool;
    /** Estimated usage. */
    readonly load: Load;
  },
  runtime: Runtime,
): SelectionContext {
  const { pool, load, tried = [], session, isConstrained, now = runtime.clock.monotonic() } = selection;
  const { modelPriority, providerPriority, balanceMode, rateLimit } = pool.routing;
  let estimate: Load | undefined;
  // no spread: on Node 20 each object that begins with one has a hidden class of its own
  return {
    isConstrained,
    tried: tried.length === 0 ? none : new Set(tried),
    session,
    pool: pool.name,
    now,
    modelPriority,
    providerPriority,
    threshold: rateLimit?.threshold,
    balanceMode,
    costOf(view) {
      estimate ??= { ...load, units: withoutFees(load), output: Math.min(load.output ?? meanOutput(pool), maxOutput) };
      return (view as ModelState).tracker.estimateCost(estimate);
    },
    random: runtime.random,
  };
}

/** Fees of tools are not compared: they are unknown for many models. */
function withoutFees({ units }: Load): Load["units"] {
  return units?.hasFees ? { ...units, searches: undefined, toolCalls: undefined } : units;
}

/** Mean output tokens of the most recent responses of the pool's models. */
function meanOutput({ members }: Pool): number {
  let responses = 0;
  let tokens = 0;
  for (const { state: { tracker: { shared: { outputTokens } } } } of members) {
    responses += outputTokens.count;
    tokens += outputTokens.total();
  }
  return responses === 0 ? firstGuess : Math.ceil(tokens / responses);
}

/** A selection of the pool's strategy. */
interface Choice {
  readonly member: Member;
  /** The candidates. */
  readonly candidates: readonly Member[];
  /** Whether the request was placed without the strategy, which does not change the pool's model. */
  readonly isPlaced?: boolean;
}

/**
 * Whether the outcome of a request does not affect other requests: it has routing constraints, or the pool's current
 * model is not eligible for it.
 */
export function isIsolated({ isConstrained, pool: { strategy, members }, eligible }: RequestPlan): boolean {
  if (isConstrained) return true;
  return eligible.length < members.length && strategy.current !== undefined &&
    !eligible.some(({ model }) => model.name === strategy.current);
}

/** Reports a rotation: the request continues after a failed attempt, or the pool changes its model. */
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
      hub.event({ ...toRotation(pool, previous.model, member), reason: previous.outcome, metadata });
    }
  } else if (!choice.isPlaced && !isIsolated(plan)) {
    const before = pool.current;
    const after = moveTo(choice, pool);
    const reason = before && before !== after && findRotationCause(before, after, context);
    if (reason) {
      hub.event({ ...toRotation(pool, before.model.name, after), reason, metadata: { request_id: request.id } });
    }
    member.standbysSeen = member.state.breakers.openCount;
  }
  context.rotationsSeen = pool.rotations.count;
}

/** Reports a failure of a model to the strategy. A request with routing constraints does not affect the pool. */
export function reportFailure({ model }: Member, { plan, deps }: RequestContext): void {
  if (!plan.isConstrained) report({ failed: new Set([model.name]) }, plan.pool, deps.hub);
}

/** Makes the model that responded the pool's current model, and reports the failed models to the strategy. */
export function reportServed(member: Member, { plan, chain, deps, isOutrun }: RequestContext): void {
  if (plan.isConstrained) return;
  const { pool } = plan;
  const { model, state } = member;
  let failed: Set<string> | undefined;
  for (const step of chain) {
    const isLeft = step.model !== model.name && step.outcome !== "hedge_lost";
    if (isLeft && !isOwnFault(step, pool)) (failed ??= new Set()).add(step.model);
  }
  if (failed !== undefined) report({ failed, served: state }, pool, deps.hub);
  if (!isOutrun && !isIsolated(plan)) moveTo({ member, candidates: pool.members }, pool);
}

/** Records the rotation after a failed attempt. Simultaneous failures rotate their pool once. */
function isNewRotation(previous: FallbackStep, { member }: Choice, { plan, rotationsSeen }: RequestContext): boolean {
  const { pool } = plan;
  if (isIsolated(plan) || isOwnFault(previous, pool)) return true;
  if (!pool.rotations.add(previous.model, member.model.name, rotationsSeen)) return false;
  pool.current = member;
  return true;
}

/** The model that the strategy of its tier keeps, else the selected one. */
function moveTo({ member, candidates }: Choice, pool: Pool): Member {
  const { current } = strategyFor(member, pool);
  const isChosen = current === undefined || current === member.model.name;
  return pool.current = (isChosen ? undefined : candidates.find(({ model }) => model.name === current)) ?? member;
}

/** Why a pool changes its model before an attempt has failed. */
export type RotationCause =
  | StandbyReason
  | AdmissionDenial["reason"]
  | "recovery"
  | "half_open"
  | "failure"
  | "threshold";

/** The reason for which a pool has changed its model; undefined if its strategy distributes requests. */
function findRotationCause({ state }: Member, after: Member, context: RequestContext): RotationCause | undefined {
  const { plan: { pool, load }, clock } = context;
  if (state.status === "standby") return state.reason;
  if (strategyFor(after, pool).current === undefined) {
    const { standbysSeen, state } = after;
    return standbysSeen !== undefined && state.breakers.openCount > standbysSeen ? "recovery" : undefined;
  }
  if (isListed(after.state, pool.routing) && !isListed(state, pool.routing)) return "recovery"; // of its tier
  if (state.breakers.hasTrialRequest) return "half_open";
  const denial = state.tracker.denial(load, clock.monotonic());
  return denial?.reason ?? (state.consecutiveFailures > 0 ? "failure" : "threshold");
}

/** Whether the request itself is invalid, by a code that does not count toward deactivation. */
function isOwnFault({ outcome, status }: FallbackStep, { routing }: Pool): boolean {
  return (outcome === "request" || outcome === contentFilter) &&
    !(status !== undefined && routing.deactivation.errorCodes.has(status));
}

/** The strategy that selects a model in its priority tier. */
function strategyFor({ state }: Member, pool: Pool): SelectionStrategy {
  return pool.fallback === undefined ? pool.strategy : findLeadingTier([state], pool.routing, pool).strategy;
}

function toRotation({ name: pool }: Pool, from: string, { model: { name, instance } }: Member) {
  return { event: "rotation", pool, model: name, provider: instance.entry.id, from, to: name } as const;
}

function report(outcome: SelectionOutcome, pool: Pool, hub: Hub): void {
  const message = `The strategy of the pool "${pool.name}" failed`;
  for (const strategy of [pool.strategy, pool.fallback]) {
    notifySafely(
      () => strategy?.observe?.(outcome),
      () => hub.trace({ severity: "error", component: "pool", message }),
    );
  }
}
