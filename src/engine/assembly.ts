/**
 * What an engine makes from settings: before its start an outline, from then on an assembly. Also the
 * records that the engine itself emits.
 * @module
 */
import type { OpeningParts } from "../background/open_provider.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { MeshEvent, RoutingRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { ModelListing } from "../contracts/provider.ts";
import type { Hub } from "../observe/hub.ts";
import type { MemberNames, MeshMembers } from "../observe/hub_events.ts";
import type { CachedDeps } from "../pipeline/cache/caching.ts";
import type { RouteDeps } from "../pipeline/request.ts";
import { buildRegistry } from "../registry/build.ts";
import type { QueriedModels } from "../registry/queried_facts.ts";
import type { Pool, Registry, RegistryState } from "../registry/registry.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import type { RetryBudget } from "../state/limits/retry_budget.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import type { ModelState } from "../state/model/model_state.ts";

/** Settings, and the pools they do not name. */
export interface AssemblyPlan {
  readonly settings: Settings;
  /** Adds pools that no configuration names, such as those of detected providers. */
  readonly addPools: (registry: Registry) => void;
}

/** What is known of a mesh before its start. */
export interface Outline extends AssemblyPlan {
  readonly registry: Registry;
}

/** What an engine makes from settings when it starts. It is replaced once models have been listed. */
export interface Assembly extends Outline {
  readonly state: MeshState;
  /** Dependencies of the pipeline. */
  readonly deps: CachedDeps;
}

/** Dependencies of an assembly. */
export interface AssemblyContext extends OpeningParts, Pick<RouteDeps, "redact"> {
  /** Returns the earlier state whose counters continue under these settings. */
  readonly stateBefore: (settings: Settings) => MeshState | undefined;
  /** Called when a model or a provider enters standby or becomes active. */
  readonly onTransition: (transition: Transition) => void;
}

/** What providers report about their models. */
export interface Known {
  /** Result of listing the models of local servers, by provider id. */
  readonly discovered?: ReadonlyMap<string, ModelListing>;
  readonly queried?: QueriedModels;
}

/** The names of the members of a pool. */
export function namesIn({ name: pool, members }: Pool): MemberNames[] {
  return members.map(({ model }) => ({ pool, model: model.name, provider: model.instance.entry.id }));
}

/**
 * Returns the current members of pools and their standby state, for listeners.
 *
 * @param assembly An assembly; its registry may grow later.
 */
export function listMeshMembers({ registry, state }: Assembly): MeshMembers {
  return {
    members: () => registry.allPools.flatMap(namesIn),
    ownersInStandby: () => state.breakers.filter(({ standby }) => standby !== undefined).map(({ owner }) => owner),
    isInStandby: (owner) => state.isInStandby(owner),
  };
}

/**
 * Makes the registry of a mesh that has not started, to be described. Sends nothing.
 *
 * @param plan Settings and pools.
 * @param context The runtime, and the connectors.
 */
export function outline(
  { settings, addPools }: AssemblyPlan,
  { runtime, catalogue }: Pick<AssemblyContext, "runtime" | "catalogue">,
): Outline {
  const registry = buildRegistry({ settings, catalogue, state: untouched, runtime });
  addPools(registry);
  return { settings, registry, addPools };
}

/** Before the start, every model is active, and nothing has been counted. */
const untouched: RegistryState = {
  add: ({ name, provider: { id: provider }, weight }) =>
    ({ ...initialState, name, provider, weight, refresh: () => {} }) as Partial<ModelState> as ModelState,
  retryBudget: () => ({}) as RetryBudget,
};

const initialState = { status: "active", consecutiveFailures: 0, inFlight: 0 } as const;

/** Returns a sink that calls a function with every event and routing record. */
export function listener(on: (record: MeshEvent | RoutingRecord) => void): Observability {
  return { emit: on, trace: () => {}, flush: () => Promise.resolve() };
}

/** Converts a transition between active and standby to an event. */
export function toTransitionEvent({ owner, to, reason, standbyMs, metadata }: Transition): Parameters<Hub["event"]>[0] {
  return {
    event: to === "standby" ? "deactivation" : "recovery",
    ...owner,
    from: to === "standby" ? "active" : "standby",
    to,
    reason,
    metadata: { ...(standbyMs === undefined ? {} : { standby_ms: Math.round(standbyMs) }), ...metadata },
  };
}
