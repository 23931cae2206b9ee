/**
 * From settings to a registry and states: what an engine is put together from, before and after providers are asked.
 * @module
 */
import { askProviders } from "../background/ask_providers.ts";
import { discoverModels } from "../background/discover.ts";
import { type OpeningParts, openProvider } from "../background/open_provider.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { ModelListing } from "../contracts/provider.ts";
import type { MeshMembers } from "../observe/hub_events.ts";
import type { RouteDeps } from "../pipeline/deps.ts";
import { buildRegistry } from "../registry/build.ts";
import type { ProviderAnswers } from "../registry/provider_answers.ts";
import type { Registry } from "../registry/registry.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import { MeshState } from "../state/mesh_state.ts";
import { reportBudget } from "./records.ts";

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
interface Known {
  /** What became of asking local servers for their models, by provider entry id. */
  readonly discovered?: ReadonlyMap<string, ModelListing>;
  readonly answers?: ProviderAnswers;
}

/**
 * Makes registry and states; nothing is sent.
 *
 * @param plan Settings and pools.
 * @param context Whose assembly it is.
 */
export function assemble(plan: AssemblyPlan, context: AssemblyContext): Assembly {
  return assembleWith({}, plan, context);
}

/**
 * The same with open providers, and with what they know of their models.
 *
 * @param plan Settings with their secrets, and pools.
 * @param context Whose assembly it is.
 */
export async function assembleOpen(plan: AssemblyPlan, context: AssemblyContext): Promise<Assembly> {
  const { settings } = plan;
  const open = async (known: Known) => {
    const made = assembleWith(known, plan, context);
    for (const instance of made.registry.instances) await openProvider(instance, context);
    return made;
  };
  const first = await open({});
  const discovered = await discoverModels(first.registry.instances, { ...first.deps, settings });
  const listed = discovered.size > 0 ? await open({ discovered }) : first;
  const answers = await askProviders(listed.registry.instances, listed.registry, context);
  return answers === undefined ? listed : withProvidersOf(listed, assembleWith({ discovered, answers }, plan, context));
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

/** The assembly over the open providers of the one before. */
function withProvidersOf(before: Assembly, made: Assembly): Assembly {
  made.registry.instances.forEach((instance, index) => {
    const { provider, credential } = before.registry.instances[index]!;
    Object.assign(instance, { provider, credential });
  });
  return made;
}

function assembleWith(known: Known, { settings, addPools }: AssemblyPlan, context: AssemblyContext): Assembly {
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
      for (const step of steps) reportBudget(step, { provider, hub });
    },
    before: context.stateBefore(settings),
  });
  const registry = buildRegistry({ settings, catalogue, state, runtime, ...known });
  addPools(registry);
  return { settings, state, registry, addPools, deps: { registry, runtime, hub, redact } };
}
