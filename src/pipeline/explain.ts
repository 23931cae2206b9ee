/**
 * A dry run of a request through the same steps. Nothing is sent or counted.
 * @module
 */
import type { ChatApi } from "../contracts/provider.ts";
import type { SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";
import { MeshError, UnsupportedRequestError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import { findLeadingTier } from "../rotation/tiers.ts";
import type { ModelState } from "../state/model/model_state.ts";
import { retryFor } from "../config/settings/routing.ts";
import { openMembers } from "./admission.ts";
import { withCallerKeys } from "./caller_keys.ts";
import { type ApplyFilter, eligibility } from "./eligibility.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import { findHedgeDelay, mayHedge } from "./hedge.ts";
import { modelChoice } from "./model_choice.ts";
import { findAffinity } from "./affinity.ts";
import { RequestContext } from "./request_context.ts";
import { selectionContext } from "./apply_strategy.ts";
import { poolFor } from "./select_pool.ts";
import { requireResult } from "../util/once.ts";
import { findWaitEnd } from "./waiting.ts";

/** The expected routing of a request. */
export interface Explanation {
  /** Name of the pool. */
  readonly pool: string;
  /** The candidates, in order of rotation, with the strategy's scores. */
  readonly order: readonly ExplainedModel[];
  /** The excluded models, with reasons. */
  readonly excluded: readonly ExcludedModel[];
  /** The second model and when it would be asked, if the pool hedges and its share allows it. */
  readonly hedge?: {
    /** Name of the model. */
    readonly model: string;
    /** Time without content after which it is asked, ms. */
    readonly afterMs: number;
  };
  /** The queue of the pool; absent if it has none. */
  readonly queue?: ExplainedQueue;
  /** What the cache would do; absent without one. */
  readonly cache?: {
    /** Whether its response would be looked up, and kept. */
    readonly isLookedUp: boolean;
    /**
     * Why not: `pool` (not one whose responses are kept), `no_store` (it says so), `provider_key` (it has a key of its
     * caller), `native_form` (only one vendor understands it), `stored` (`store: true`), `provider_tools`, or
     * `not_deterministic` (neither temperature 0 nor a seed, and it does not ask for the cache).
     */
    readonly reason?:
      | "pool"
      | "no_store"
      | "provider_key"
      | "native_form"
      | "stored"
      | "provider_tools"
      | "not_deterministic";
  };
}

/** What the cache would do for a request. */
export type ExplainedCache = NonNullable<Explanation["cache"]>;

/** The queue of a pool. */
export interface ExplainedQueue {
  /** Number of requests that wait. */
  readonly waiting: number;
  /** Whether the request would wait, since every model that could serve it is at its limit. */
  readonly wouldWait: boolean;
}

/** A candidate. */
export interface ExplainedModel {
  /** Name of the model. */
  readonly model: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** The strategy's score. */
  readonly score: number;
  /** What places the request at this model before the strategy: `affinity` to the prompt cache of the conversation. */
  readonly chosen_by?: "affinity";
  /** The API through which the request would be sent to it, if it supports several or declares one. */
  readonly api?: ChatApi;
}

/** An excluded model. */
export interface ExcludedModel {
  /** Name of the model. */
  readonly model: string;
  /** The filter that excludes it, its standby reason, or the reason of the denial. */
  readonly reason: string;
}

/**
 * Explains the routing of a request.
 *
 * @param deps Dependencies.
 * @throws {ModelNotFoundError} If its name is unknown.
 */
export function explain(request: RoutedRequest, deps: RouteDeps): Explanation {
  const { registry } = deps;
  const excluded: ExcludedModel[] = [];
  const pool = poolFor(request.model, request, registry);
  const applyFilter = collectingFilter(excluded);
  const choice = modelChoice({ request, pool, registry });
  const suitable = eligibility({ request, pool, registry, choice, applyFilter });
  const found = registry.takesCallerKeys
    ? {
      ...suitable,
      eligible: applyFilter(
        "credentials",
        suitable.eligible,
        (eligible) => withCallerKeys({ ...suitable, eligible }, { request, pool, registry }).eligible,
      ),
    }
    : suitable;
  const affinity = findAffinity({ request, pool }, deps);
  const context = new RequestContext({ request, pool, ...found, affinity }, deps);
  try {
    const order = findRotationOrder(context);
    const ordered = new Set(order.map(({ model }) => model));
    for (const member of found.eligible) {
      const { model: { name }, state } = member;
      if (ordered.has(name)) continue;
      excluded.push({ model: name, reason: state.reason ?? context.denials.get(member)?.reason ?? "standby" });
    }
    const hedge = findHedge(context, order);
    const queue = explainQueue(context, order);
    return { pool: pool.name, order, excluded, ...(hedge !== undefined && { hedge }), ...queue };
  } finally {
    context.end();
  }
}

function explainQueue(context: RequestContext, order: Explanation["order"]): Pick<Explanation, "queue"> {
  const { plan: { pool, eligible }, clock } = context;
  if (pool.routing.queue === undefined) return {};
  const now = clock.monotonic();
  const wouldWait = order.length === 0 && eligible.some((member) => findWaitEnd(member, context, now) !== undefined);
  const { queue } = pool.base ?? pool;
  return { queue: { waiting: queue?.length ?? 0, wouldWait } };
}

/** Codes of errors that mean that no model is left. */
const exclusions: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "missing_provider_key",
  "unsupported_by_pool",
]);

/** Returns the expected hedge: the next candidate of another provider entry, else the next one. */
function findHedge(
  { plan: { pool, request } }: RequestContext,
  [first, ...others]: Explanation["order"],
): Explanation["hedge"] {
  if (first === undefined || !mayHedge({ pool, request })) return undefined;
  const { model, provider } = first;
  const scope = retryFor(pool.routing, provider).scope;
  const afterMs = scope === "same_model" ? undefined : findHedgeDelay(model, { pool, request });
  const second = scope === "any"
    ? others.find((other) => other.provider !== provider) ?? others[0]
    : others.find((other) => other.provider === provider);
  return second === undefined || afterMs === undefined ? undefined : { model: second.model, afterMs };
}

/** Records the excluded models. A filter that leaves no model throws, which does not end a dry run. */
function collectingFilter(excluded: ExcludedModel[]): ApplyFilter {
  return (reason, members, filter) => {
    let eligible: readonly Member[];
    try {
      eligible = members.length === 0 ? members : filter(members);
    } catch (error) {
      if (!UnsupportedRequestError.isInstance(error) || !exclusions.has(error.code)) throw error;
      eligible = [];
    }
    for (const member of members) if (!eligible.includes(member)) excluded.push({ model: member.model.name, reason });
    return eligible;
  };
}

/** The order of rotation, if each model fails. */
function findRotationOrder(context: RequestContext): Explanation["order"] {
  const { plan, deps } = context;
  const { pool, load, request, prefer } = plan;
  const { session } = request;
  const selection = selectionContext({ pool, load, session, isConstrained: false }, deps.runtime);
  const order: Explanation["order"][number][] = [];
  let left = plan.eligible;
  const first = openMembers(left, { context, alone: false });
  const placed = first.length === 0 ? undefined : plan.affinity?.findMember(prefer?.(first) ?? first);
  if (placed !== undefined) {
    const tier = findLeadingTier([placed.state], selection, pool);
    const [explained] = scored([placed], tier.strategy, { selection, request });
    order.push({ ...explained!, chosen_by: "affinity" });
    left = left.filter((member) => member !== placed);
  }
  for (;;) {
    const candidates = openMembers(left, { context, alone: false });
    if (candidates.length === 0) return order;
    const states = (prefer?.(candidates) ?? candidates).map(({ state }) => state);
    const tier = findLeadingTier(states, selection, pool);
    const leading = new Set<unknown>(tier.candidates);
    order.push(...scored(candidates.filter(({ state }) => leading.has(state)), tier.strategy, { selection, request }));
    left = left.filter(({ state }) => !leading.has(state));
  }
}

function formatApi(api: ChatApi | undefined): Pick<ExplainedModel, "api"> {
  return api === undefined ? {} : { api };
}

/** The members by descending score. */
function scored(
  members: readonly Member[],
  strategy: SelectionStrategy,
  { selection: context, request }: { readonly selection: SelectionContext; readonly request: RoutedRequest },
): Explanation["order"] {
  const computeScore = (state: ModelState) => {
    try {
      return requireResult(strategy.score(state, context));
    } catch (cause) {
      throw new MeshError(`The strategy of the pool "${context.pool}" failed`, { code: "internal_error", cause });
    }
  };
  const scores = members.map(({ model, state }) => ({
    model: model.name,
    provider: model.instance.entry.id,
    score: computeScore(state),
    ...formatApi(request.operation.selectApi?.(request.body, model)),
  }));
  return scores.sort((first, second) => second.score - first.score);
}
