/**
 * A provider more, in a registry that is in use: what is there stays as it is, states, cursors and sessions included.
 * @module
 */
import { MeshState } from "../state/mesh_state.ts";
import { type BuildParts, buildRegistry } from "./build.ts";
import { addDistinct } from "./offered.ts";
import type { Member, ModelEntry, Pool, ProviderInstance, Registry } from "./registry.ts";

export interface Draft {
  readonly registry: Registry;
  /** The new provider in it; undefined when it is switched off. */
  readonly instance?: ProviderInstance;
}

/**
 * Builds a registry of the settings with the new provider, with states of its own; its models get no requests.
 *
 * @param id Entry id of the new provider.
 * @throws {ConfigError} When a connector does not exist.
 */
export function draft(id: string, parts: Omit<BuildParts, "state">): Draft {
  const { settings, runtime: { clock } } = parts;
  const state = new MeshState({ settings, clock, onTransition: () => {} });
  const registry = buildRegistry({ ...parts, state });
  return { registry, instance: registry.instances.find(({ entry }) => entry.id === id) };
}

/**
 * Puts the new provider of a draft, its models and their memberships in pools into a registry; it comes last in each.
 *
 * @param drafted Its provider has been opened.
 * @param parts The states, and the settings of the draft.
 */
export function extend(
  registry: Registry,
  drafted: Draft,
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
 * Puts the models of a draft that a provider does not have yet, and their memberships in pools, into a registry.
 *
 * @param instance The provider, which is in the registry.
 * @param parts The draft, the states, and the settings of the draft.
 * @returns The models that are new.
 */
export function extendBy(
  instance: ProviderInstance,
  registry: Registry,
  { drafted, settings, state }: Pick<BuildParts, "settings" | "state"> & { readonly drafted: Draft },
): readonly ModelEntry[] {
  const known = new Set(registry.models.filter((model) => model.instance === instance).map(({ info }) => info.id));
  for (const model of drafted.registry.models) {
    if (model.instance === drafted.instance && !known.has(model.info.id)) addDistinct({ ...model, instance }, registry);
  }
  for (const pool of registry.allPools) {
    const { budget } = settings.pools.get(pool.name) ?? { budget: settings.defaultBudget };
    for (const model of newModels(pool, instance, registry, drafted)) {
      if (known.has(model.info.id)) continue;
      const { name, routing, strategy: policies } = pool;
      const facts = { ...model, pool: name, provider: instance.entry, routing, budget, policies };
      growing<Member>(pool.members).push({ model, state: state.add(facts) });
    }
    pool.membersByDelivery.clear();
  }
  registry.onMembersChanged();
  return registry.models.filter((model) => model.instance === instance && !known.has(model.info.id));
}

/** The models of a provider that belong into a pool. */
function newModels(pool: Pool, instance: ProviderInstance, registry: Registry, drafted: Draft): readonly ModelEntry[] {
  const configured = drafted.registry.pool(pool.name);
  const ids = configured?.members.filter(({ model }) => model.instance === drafted.instance).map(({ model }) =>
    model.info.id
  );
  const own = registry.models.filter((model) => model.instance === instance);
  if (ids !== undefined) return own.filter(({ info }) => ids.includes(info.id));
  const { capability, name } = pool;
  const isNode = capability !== null && registry.tree.shortName(capability) === name;
  const members = isNode ? registry.pooledAt(capability) : registry.modelsByUpstreamId(name);
  const isOneModel = !isNode && pool.members.some(({ model }) => model.name === name);
  return isOneModel ? [] : members.filter((model) => model.instance === instance);
}

/** Only here does what exists become more. */
function growing<Item>(items: readonly Item[]): Item[] {
  return items as Item[];
}
