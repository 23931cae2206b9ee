/**
 * From settings to a registry and states: what an engine is put together from, before and after providers are asked.
 * @module
 */
import type { OpeningParts } from "../background/open_provider.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { ModelListing } from "../contracts/provider.ts";
import type { MeshMembers } from "../observe/hub_events.ts";
import type { RouteDeps } from "../pipeline/deps.ts";
import { buildRegistry } from "../registry/build.ts";
import type { ProviderAnswers } from "../registry/provider_answers.ts";
import type { Registry } from "../registry/registry.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import { MeshState } from "../state/mesh_state.ts";
import { reportBudgets } from "./records.ts";

/** Settings, and the pools they do not name. */
export interface AssemblyPlan {
  readonly settings: Settings;
  /** Adds the pools that no configuration names. */
  readonly addPools: (registry: Registry) => void;
}

/** What an engine makes of settings, and replaces once secrets are known. */
export interface Assembly extends AssemblyPlan {
  readonly state: MeshState;
  readonly registry: Registry;
  /** What its pipeline works with. */
  readonly deps: RouteDeps;
}

/** Whose assembly it is. */
export interface AssemblyContext extends OpeningParts, Pick<RouteDeps, "redact"> {
  /** The state whose counts go on under these settings. */
  readonly stateBefore: (settings: Settings) => MeshState | undefined;
  /** Called when a model or a provider moves to standby or becomes active. */
  readonly onTransition: (transition: Transition) => void;
}

/** What providers know of their models. */
export interface Known {
  /** What became of asking local servers for their models, by provider entry id. */
  readonly discovered?: ReadonlyMap<string, ModelListing>;
  readonly answers?: ProviderAnswers;
}

/**
 * Its pools' members, and what is in standby, as they are when a listener asks.
 *
 * @param assembly Its registry may grow later on.
 */
export function membersOf({ registry, state }: Assembly): MeshMembers {
  return {
    members: () =>
      registry.allPools.flatMap(({ name: pool, members }) =>
        members.map(({ model }) => ({ pool, model: model.name, provider: model.instance.entry.id }))
      ),
    ownersInStandby: () => state.breakers.filter(({ standby }) => standby !== undefined).map(({ owner }) => owner),
  };
}

/**
 * Makes registry and states; nothing is sent.
 *
 * @param plan Settings and pools.
 * @param context Whose assembly it is.
 * @param known What providers know of their models.
 */
export function assemble({ settings, addPools }: AssemblyPlan, context: AssemblyContext, known: Known = {}): Assembly {
  const { runtime, hub, redact, catalogue, onTransition } = context;
  const state = new MeshState({
    settings,
    clock: runtime.clock,
    onTransition,
    onPolicyFailure: (pool) => {
      const message = `The rotation policy of the pool "${pool}" failed`;
      hub.trace({ severity: "error", component: "pool", message });
    },
    onBudgetSteps: (steps, provider) => {
      reportBudgets(steps, { provider, hub, replication: state.replicator.replication });
    },
    before: context.stateBefore(settings),
  });
  const registry = buildRegistry({ settings, catalogue, state, runtime, ...known });
  addPools(registry);
  return { settings, state, registry, addPools, deps: { registry, runtime, hub, redact } };
}
