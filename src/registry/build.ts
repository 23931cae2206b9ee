/**
 * Builds a registry from settings, and fills it with the configured models and pools.
 * @module
 */
import { servedOperations, servesOperation } from "../capability/operations.ts";
import { type CapabilityTree, capabilityTree } from "../capability/tree.ts";
import { findCatalogued } from "../config/settings/offers.ts";
import type {
  ConfiguredModel,
  PoolSettings,
  ProviderEntry,
  RoutingSettings,
  Settings,
} from "../config/settings/settings.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import type { Delivery, ModelInfo, ModelListing } from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { requireResult } from "../util/once.ts";
import { groupBy } from "../util/entries.ts";
import type { ConnectorCatalogue } from "./catalogue.ts";
import { addDistinct, catalogueModels, findConfiguredModels, findLeaves, withConnectorFacts } from "./offered.ts";
import { mergeRules, type QueriedModels, withQueriedFacts } from "./queried_facts.ts";
import {
  type ModelEntry,
  type PoolPlan,
  type PoolStrategy,
  type ProviderInstance,
  Registry,
  type RegistryState,
} from "./registry.ts";
import { mergePricing } from "../util/pricing.ts";

export interface BuildParts extends FillParts {
  readonly state: RegistryState;
  readonly queried?: QueriedModels | undefined;
}

/**
 * Builds a registry. Sends nothing.
 *
 * @throws {ConfigError} When a strategy or connector does not exist.
 */
export function buildRegistry(parts: BuildParts): Registry {
  const { settings, state } = parts;
  const tree = capabilityTree(settings.capabilities);
  const instances = [...settings.providers.values()].filter(({ enabled }) => enabled).map((entry) =>
    createInstance(entry, parts)
  );
  const makeStrategy = (routing: RoutingSettings) => createPoolStrategy(routing, parts);
  const registry = new Registry({ settings, tree, state, makeStrategy }, instances);
  fillAsConfigured(registry, parts);
  return registry;
}

/** Adds a pool for every leaf that a pooled model serves and that has an endpoint. */
export function addLeafPools(registry: Registry): void {
  const served = new Set(registry.models.flatMap(({ pooled, leaves }) => pooled ? leaves : []));
  for (const leaf of registry.tree.leaves()) {
    if (served.has(leaf) && servedOperations.some((operation) => servesOperation(leaf, operation))) {
      registry.poolAt(leaf, true);
    }
  }
}

function createInstance(entry: ProviderEntry, { catalogue, state, discovered, queried }: BuildParts): ProviderInstance {
  const retryBudget = state.retryBudget(entry.id, entry.retryBudget);
  const { problem: listProblem, models: listed } = discovered?.get(entry.id) ?? {};
  const own = queried?.get(entry.id);
  const facts = {
    entry,
    retryBudget,
    ...(own && { queried: own }),
    ...(listed && { listed: new Set(listed.map(({ id }) => id)) }),
    ...(listProblem === undefined ? {} : { listProblem }),
  };
  if (entry.instance !== undefined) return { ...facts, vendor: entry.id, telemetryName: entry.id };
  const connector = catalogue.get("provider", entry.connector) as ProviderDeclaration;
  const { vendor, needsBaseUrl, telemetryName = needsBaseUrl ? entry.id : vendor } = connector;
  return { ...facts, connector, vendor, telemetryName };
}

interface FillParts {
  readonly settings: Settings;
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
  /** Result of listing the models of providers, by provider id. */
  readonly discovered?: ReadonlyMap<string, ModelListing>;
}

/**
 * Adds configured models, then catalogue models, then configured pools. Providers have been added before.
 *
 * @throws {ConfigError} When a pool's strategy does not exist.
 */
function fillAsConfigured(registry: Registry, parts: FillParts): void {
  const { models, pools, aliases } = parts.settings;
  const configured = groupBy(models.values(), ({ provider }) => provider);
  // configured models first: they keep their names, and catalogue models get others
  for (const instance of registry.instances) {
    for (const model of configured.get(instance.entry.id) ?? []) {
      registry.addModel(configuredEntry(model, instance, { ...parts, tree: registry.tree }));
    }
  }
  for (const instance of registry.instances) {
    const taken = new Set(configured.get(instance.entry.id)?.map(({ id }) => id));
    for (const model of catalogueModels(instance, registry, parts.discovered)) {
      if (!taken.has(model.info.id)) addDistinct(model, registry);
    }
  }
  for (const target of aliases.values()) findConfiguredModels(target, registry);
  for (const pool of pools.values()) registry.addPool(createPoolPlan(pool, registry));
}

/**
 * Creates the strategy of a pool, with its fallback strategy if one is configured.
 *
 * @param routing The pool's settings.
 * @throws {ConfigError} When there is no strategy of that id.
 */
function createPoolStrategy(
  { strategy, fallbackStrategy: id }: RoutingSettings,
  parts: FillParts,
): PoolStrategy {
  const own = typeof strategy === "string" ? createStrategy(strategy, parts) : strategy;
  return {
    strategyId: typeof strategy === "string" ? strategy : "custom",
    strategy: own,
    ...(id !== undefined && { fallback: createStrategy(id, parts) }),
  };
}

function createStrategy(id: string, { catalogue, runtime }: FillParts): SelectionStrategy {
  return requireResult(catalogue.loaded("strategy", id)?.create({}, runtime)) ?? unloaded;
}

/** The strategy of pools that are only described: selects nothing until `ready()` loads strategies and rebuilds. */
const unloaded: SelectionStrategy = { select: () => undefined, score: () => 0 };

function createPoolPlan(settings: PoolSettings, registry: Registry): PoolPlan {
  const { tree } = registry;
  const { name, routing, budget } = settings;
  const path = settings.capability === undefined ? null : tree.resolve(settings.capability) ?? null;
  const listed = settings.models.flatMap((name) => findConfiguredModels(name, registry));
  const union = new Set(path === null ? listed : [...listed, ...registry.pooledAt(path)]);
  const models = [...union].filter(({ instance }) => {
    const names = [instance.entry.id, instance.vendor];
    const isIn = (list: readonly string[]) => names.some((name) => list.includes(name));
    return (settings.providers.length === 0 || isIn(settings.providers)) && !isIn(settings.excludedProviders);
  });
  const capability = path ?? tree.commonAncestor(models.flatMap(({ leaves }) => leaves));
  return { name, capability, models, routing, budget, listed: true };
}

function configuredEntry(
  model: ConfiguredModel,
  instance: ProviderInstance,
  { catalogue, tree }: Pick<FillParts, "catalogue"> & { readonly tree: CapabilityTree },
): ModelEntry {
  const { id, base } = model;
  const queried = instance.queried?.get(id);
  const own = base === undefined
    ? findCatalogued(id, (exact) => instance.connector?.models.find((info) => info.id === exact))
    : findBaseFacts(base, instance, catalogue);
  const catalogued = withQueriedFacts(own, queried);
  const info: ModelInfo = {
    ...catalogued,
    id,
    capabilities: model.capabilities ?? catalogued?.capabilities,
    features: { ...catalogued?.features, ...model.features },
    constraints: { ...catalogued?.constraints, ...model.constraints },
    pricing: mergePricing(catalogued?.pricing, model.pricing),
    parameters: mergeRules(catalogued?.parameters, model.parameters),
    ...(model.api === "auto" ? {} : { api: model.api }),
    embedding_space: model.embeddingSpace ?? catalogued?.embedding_space,
    voices: model.voices ?? catalogued?.voices,
    response_formats: model.responseFormats ?? catalogued?.response_formats,
  };
  const { synchronous, streaming, batch } = model.delivery;
  const modes: Readonly<Record<Delivery, boolean | undefined>> = { sync: synchronous, stream: streaming, batch };
  const delivers = (delivery: Delivery) => modes[delivery] !== false;
  return {
    name: model.name,
    info: { ...withConnectorFacts({ ...info, id: base?.id ?? id }, instance.connector, tree), id },
    leaves: findLeaves({ ...info, id: base?.id ?? id }, tree),
    pooled: true,
    delivers,
    ...(model.batch && { batch: model.batch }),
    weight: model.weight,
    limits: queried?.limits === undefined ? model.limits : { ...queried.limits, ...model.limits },
    instance,
  };
}

/**
 * Returns what a base model brings. Prices of a vendor are not those of a local server, and rules of parameters are
 * those of an API: OpenAI's, or a vendor's own.
 */
function findBaseFacts(
  { connector: vendor, id }: NonNullable<ConfiguredModel["base"]>,
  { connector }: ProviderInstance,
  catalogue: ConnectorCatalogue,
): ModelInfo | undefined {
  const declaration = catalogue.get("provider", vendor) as ProviderDeclaration;
  const found = declaration.models.find((info) => info.id === id);
  if (found === undefined) return undefined;
  const { defaultFor: _, retires: __, pricing, parameters, ...facts } = found;
  const isSameApi = declaration.id === connector?.id || Boolean(declaration.apis && connector?.apis);
  return { ...facts, ...(connector?.local ? {} : { pricing }), ...(isSameApi && { parameters }) };
}
