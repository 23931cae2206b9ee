/**
 * Makes registry and state from settings, before and after providers have been opened.
 * @module
 */
import type { OpeningParts } from "../background/open_provider.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { ModelListing } from "../contracts/provider.ts";
import type { MemberNames, MeshMembers } from "../observe/hub_events.ts";
import type { RouteDeps } from "../pipeline/deps.ts";
import { buildRegistry } from "../registry/build.ts";
import type { ProviderAnswers } from "../registry/provider_answers.ts";
import type { Pool, Registry } from "../registry/registry.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import { MeshState } from "../state/model/mesh_state.ts";
import { reportBudgets } from "./records.ts";

/** Settings, and the pools they do not name. */
export interface AssemblyPlan {
  readonly settings: Settings;
  /** Adds pools that no configuration names, such as those of detected providers. */
  readonly addPools: (registry: Registry) => void;
}

/** What an engine makes from settings. It is replaced once secrets are known. */
export interface Assembly extends AssemblyPlan {
  readonly state: MeshState;
  readonly registry: Registry;
  /** Dependencies of the pipeline. */
  readonly deps: RouteDeps;
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
  readonly answers?: ProviderAnswers;
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
 * Makes registry and state. Sends nothing.
 *
 * @param plan Settings and pools.
 * @param context Dependencies.
 * @param known What providers report about their models.
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
      const findClientName = (id: string) => state.budgetScopes.find((scope) => scope.id === id)?.name;
      reportBudgets(steps, {
        provider,
        hub,
        replication: state.sharedCounters.replication,
        findClientName: findClientName,
      });
    },
    before: context.stateBefore(settings),
  });
  const registry = buildRegistry({ settings, catalogue, state, runtime, ...known });
  addPools(registry);
  return { settings, state, registry, addPools, deps: { registry, runtime, hub, redact } };
}
