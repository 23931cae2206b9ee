/**
 * Adds a provider to a registry that is in use. Existing state, cursors and sessions are kept.
 * @module
 */
import { MeshState } from "../state/model/mesh_state.ts";
import { type BuildParts, buildRegistry } from "./build.ts";
import { resolvePriority } from "./named_models.ts";
import { addDistinct } from "./offered.ts";
import type { Member, ModelEntry, Pool, ProviderInstance, Registry } from "./registry.ts";

export interface DraftProvider {
  readonly registry: Registry;
  /** The new provider; undefined when it is disabled. */
  readonly instance?: ProviderInstance;
}

/**
 * Builds a separate registry of the settings with the new provider, with its own state. Its models receive no requests.
 *
 * @param id Id of the new provider in the configuration.
 * @throws {ConfigError} When a connector does not exist.
 */
export function draft(id: string, parts: Omit<BuildParts, "state">): DraftProvider {
  const { settings, runtime: { clock } } = parts;
  const state = new MeshState({ settings, clock, onTransition: () => {} });
  const registry = buildRegistry({ ...parts, state });
  return { registry, instance: registry.instances.find(({ entry }) => entry.id === id) };
}

/**
 * Adds the new provider of a draft with its models to a registry, as the last provider and the last members of pools.
 *
 * @param drafted A draft whose provider has been opened.
 * @param parts The state, and the settings of the draft.
 */
export function extendRegistry(
  registry: Registry,
  drafted: DraftProvider,
  { settings, state }: Pick<BuildParts, "settings" | "state">,
): void {
  if (drafted.instance === undefined) return;
  const { entry } = drafted.instance;
  const instance: ProviderInstance = {
    ...drafted.instance,
    retryBudget: state.retryBudget(entry.id, entry.retryBudget),
  };
  growing(registry.instances).push(instance);
  extendBy(instance, registry, { drafted, settings, state });
}

/**
 * Adds the models of a draft that a provider does not have yet to a registry and its pools.
 *
 * @param instance The provider in the registry.
 * @param parts The draft, the state, and the settings of the draft.
 */
export function extendBy(
  instance: ProviderInstance,
  registry: Registry,
  { drafted, settings, state }: Pick<BuildParts, "settings" | "state"> & { readonly drafted: DraftProvider },
): readonly ModelEntry[] {
  const ids = new Set(registry.models.filter((model) => model.instance === instance).map(({ info }) => info.id));
  for (const model of drafted.registry.models) {
    if (model.instance === drafted.instance && !ids.has(model.info.id)) addDistinct({ ...model, instance }, registry);
  }
  const own = registry.models.filter((model) => model.instance === instance);
  for (const pool of registry.allPools) {
    const { budget } = settings.pools.get(pool.name) ?? { budget: settings.defaultBudget };
    for (const model of newModels(pool, { instance, own, registry, drafted })) {
      if (ids.has(model.info.id)) continue;
      const { name, routing, strategy: policies } = pool;
      const facts = { ...model, pool: name, provider: instance.entry, routing, budget, policies };
      growing<Member>(pool.members).push({ model, state: state.add(facts) });
    }
    pool.membersByDelivery.clear();
    const { routing = settings.defaultRouting } = settings.pools.get(pool.name) ?? {};
    const { modelPriority } = resolvePriority(routing, registry);
    Object.assign(pool, { routing: { ...pool.routing, modelPriority } });
  }
  registry.onMembersChanged();
  return own.filter(({ info }) => !ids.has(info.id));
}

/** Returns the models of a provider to add to a pool. */
function newModels(pool: Pool, { instance, own, registry, drafted }: {
  readonly instance: ProviderInstance;
  /** The models of the instance. */
  readonly own: readonly ModelEntry[];
  readonly registry: Registry;
  readonly drafted: DraftProvider;
}): readonly ModelEntry[] {
  const configured = drafted.registry.pool(pool.name);
  if (configured !== undefined) {
    const members = configured.members.filter(({ model }) => model.instance === drafted.instance);
    const ids = new Set(members.map(({ model }) => model.info.id));
    return own.filter(({ info }) => ids.has(info.id));
  }
  const { capability, name } = pool;
  const isNode = capability !== null && registry.tree.shortName(capability) === name;
  const members = isNode ? registry.pooledAt(capability) : registry.modelsByUpstreamId(name);
  const isOneModel = !isNode && pool.members.some(({ model }) => model.name === name);
  return isOneModel ? [] : members.filter((model) => model.instance === instance);
}

/** Casts away `readonly`: this module is the only one that extends a registry. */
function growing<Item>(items: readonly Item[]): Item[] {
  return items as Item[];
}
