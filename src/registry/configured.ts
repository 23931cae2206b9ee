/**
 * Fills a registry with the configured models and pools.
 * @module
 */
import type { CapabilityTree } from "../capability/tree.ts";
import { findCatalogued } from "../config/settings/offers.ts";
import type { ConfiguredModel, PoolSettings, RoutingSettings, Settings } from "../config/settings/settings.ts";
import type { DatedPricing, Delivery, ModelInfo, ModelListing } from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { groupBy } from "../util/group_by.ts";
import type { ConnectorCatalogue } from "./catalogue.ts";
import { addDistinct, catalogueModels, findConfiguredModels, findLeaves, withConnectorFacts } from "./offered.ts";
import { mergeRules } from "./parameter_rules.ts";
import { withAnswers } from "./provider_answers.ts";
import type { ModelEntry, PoolPlan, PoolStrategy, ProviderInstance, Registry } from "./registry.ts";
import { callNow } from "../util/call_now.ts";

export interface FillParts {
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
export function fillAsConfigured(registry: Registry, parts: FillParts): void {
  const { models, pools, aliases } = parts.settings;
  const configured = groupBy(models.values(), ({ provider }) => provider);
  // configured models first: they keep their names, and catalogue models get others
  for (const instance of registry.instances) {
    for (const model of configured.get(instance.entry.id) ?? []) {
      registry.addModel(configuredEntry(model, instance, registry.tree));
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
export function createPoolStrategy(
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
  return callNow(() => catalogue.loaded("strategy", id)?.create({}, runtime)) ?? unloaded;
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

function configuredEntry(model: ConfiguredModel, instance: ProviderInstance, tree: CapabilityTree): ModelEntry {
  const { id } = model;
  const answers = instance.answers?.get(id);
  const { models: catalogue = [] } = instance.connector ?? {};
  const known = withAnswers(findCatalogued(id, (own) => catalogue.find((info) => info.id === own)), answers);
  const info: ModelInfo = {
    ...known,
    id,
    capabilities: model.capabilities ?? known?.capabilities,
    features: { ...known?.features, ...model.features },
    ...(known?.native_features && { native_features: { ...known.native_features, ...model.features } }),
    constraints: { ...known?.constraints, ...model.constraints },
    pricing: mergePricing(known?.pricing, model.pricing),
    parameters: mergeRules(known?.parameters, model.parameters),
    embedding_space: model.embeddingSpace ?? known?.embedding_space,
    voices: model.voices ?? known?.voices,
    response_formats: model.responseFormats ?? known?.response_formats,
  };
  const { synchronous, streaming, batch } = model.delivery;
  const modes: Readonly<Record<Delivery, boolean | undefined>> = { sync: synchronous, stream: streaming, batch };
  const delivers = (delivery: Delivery) => modes[delivery] !== false;
  return {
    name: model.name,
    info: withConnectorFacts(info, instance.connector, tree),
    leaves: findLeaves(info, tree),
    pooled: true,
    delivers,
    ...(model.batch && { batch: model.batch }),
    weight: model.weight,
    limits: answers?.limits === undefined ? model.limits : { ...answers.limits, ...model.limits },
    instance,
  };
}

function mergePricing(
  known: readonly DatedPricing[] | undefined,
  configured: DatedPricing | undefined,
): readonly DatedPricing[] | undefined {
  if (configured === undefined) return known;
  return known?.map((price) => ({ ...price, ...configured })) ?? [configured];
}
