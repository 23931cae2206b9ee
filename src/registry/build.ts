/**
 * From settings to a registry: providers with their models, and the pools.
 * @module
 */
import { operationLeaves } from "../capability/operations.ts";
import { CapabilityTree } from "../capability/tree.ts";
import type { ConfiguredModel, ProviderEntry, Settings } from "../config/settings.ts";
import type { ProviderConnector } from "../contracts/connector.ts";
import type { DatedPricing, Delivery, ModelInfo, ParameterRules } from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { ConnectorCatalogue } from "./catalogue.ts";
import { type ModelEntry, type ProviderHome, Registry } from "./registry.ts";

/** What a registry is built from. */
export interface BuildParts {
  readonly settings: Settings;
  readonly catalogue: ConnectorCatalogue;
  readonly state: MeshState;
  readonly runtime: Runtime;
  /** Models that servers without a catalogue listed, by provider entry id. */
  readonly discovered: ReadonlyMap<string, readonly ModelInfo[]>;
}

/**
 * Builds a registry. Sends nothing.
 *
 * @param parts What it is built from.
 * @throws {ConfigError} When a strategy or connector does not exist.
 */
export function buildRegistry(parts: BuildParts): Registry {
  const { settings, catalogue, state, runtime } = parts;
  const tree = new CapabilityTree(settings.capabilities);
  const homes = [...settings.providers.values()].filter(({ enabled }) => enabled).map((entry) => homeOf(entry, parts));
  const makeStrategy = (strategy: string | SelectionStrategy) =>
    typeof strategy === "string"
      ? { id: strategy, instance: catalogue.get("strategy", strategy).create({}, runtime) }
      : { id: "custom", instance: strategy };
  const registry = new Registry({ settings, tree, state, makeStrategy }, homes);
  // a configured model has the name it was given; those of the catalogue give way
  for (const home of homes) for (const model of configuredModels(home, settings, tree)) registry.addModel(model);
  for (const home of homes) {
    for (const model of knownModels(home, parts, tree)) registry.addModel(distinct(model, registry));
  }
  for (const pool of settings.pools.values()) registry.addConfiguredPool(pool);
  return registry;
}

/**
 * Makes a pool for every leaf that some pooled model serves and some endpoint asks for.
 *
 * @param registry Without configured pools.
 */
export function addLeafPools(registry: Registry): void {
  const served = new Set(registry.models.flatMap(({ pooled, leaves }) => pooled ? leaves : []));
  for (const leaf of operationLeaves(registry.tree, "chat")) {
    if (served.has(leaf)) registry.poolAt(leaf, true);
  }
}

function homeOf(entry: ProviderEntry, { catalogue, state }: BuildParts): ProviderHome {
  const retryBudget = state.retryBudget(entry.id, entry.retryBudget);
  if (entry.instance !== undefined) return { entry, vendor: entry.id, retryBudget };
  const connector = catalogue.get("provider", entry.connector) as ProviderConnector;
  return { entry, connector, vendor: connector.vendor, retryBudget };
}

/** A second account at a vendor, or a second server of one's own, has models of the same names: the entry's id tells them apart. */
function distinct(model: ModelEntry, registry: Registry): ModelEntry {
  const other = registry.model(model.name);
  if (other === undefined || other.home === model.home) return model;
  return { ...model, name: `${model.home.entry.id}.${model.info.id}` };
}

function configuredModels(home: ProviderHome, { models }: Settings, tree: CapabilityTree): ModelEntry[] {
  const own = [...models.values()].filter(({ provider }) => provider === home.entry.id);
  return own.map((model) => configuredEntry(model, home, tree));
}

/**
 * What the catalogue or the server itself has beside the models configured. Where models are configured, only those that
 * a pool or an alias names are let in: nobody shall call a dearer one that the operator has not written down.
 */
function knownModels(home: ProviderHome, { settings, discovered }: BuildParts, tree: CapabilityTree): ModelEntry[] {
  const own = [...settings.models.values()].filter(({ provider }) => provider === home.entry.id);
  const taken = new Set(own.map(({ id }) => id));
  const listed = discovered.get(home.entry.id);
  const isOpen = taken.size === 0 || settings.only !== undefined;
  const isDefault = (info: ModelInfo) =>
    taken.size === 0 && (listed !== undefined || (info.defaultFor?.length ?? 0) > 0);
  const named = new Set([
    ...[...settings.pools.values()].flatMap(({ models }) => models),
    ...settings.aliases.values(),
  ]);
  return (listed ?? home.connector?.models ?? [])
    .filter(({ id }) => !taken.has(id))
    .map((info) => catalogueEntry(info, home, tree, isDefault(info)))
    .filter(({ name, info }) => isOpen || [name, `${home.vendor}/${info.id}`, info.id].some((one) => named.has(one)));
}

function catalogueEntry(info: ModelInfo, home: ProviderHome, tree: CapabilityTree, pooled: boolean): ModelEntry {
  return {
    name: `${home.vendor}.${info.id}`,
    info: withConnectorFacts(info, home.connector),
    leaves: leavesOf(info, tree),
    pooled,
    delivers: (delivery) => delivery !== "batch",
    weight: 1,
    home,
  };
}

function configuredEntry(model: ConfiguredModel, home: ProviderHome, tree: CapabilityTree): ModelEntry {
  const { id } = model;
  const known = catalogued(id, home.connector);
  const pricing = pricingOf(known?.pricing, model.pricing);
  const parameters = mergeRules(known?.parameters, model.parameters);
  const info: ModelInfo = {
    ...known,
    id,
    ...(model.capabilities === undefined ? {} : { capabilities: model.capabilities }),
    features: { ...known?.features, ...model.features },
    constraints: { ...known?.constraints, ...model.constraints },
    ...(pricing === undefined ? {} : { pricing }),
    ...(parameters === undefined ? {} : { parameters }),
  };
  const { synchronous, streaming } = model.delivery;
  const delivers = (delivery: Delivery) =>
    delivery === "sync" ? synchronous !== false : delivery === "stream" && streaming !== false;
  return {
    name: model.name,
    info: withConnectorFacts(info, home.connector),
    leaves: leavesOf(info, tree),
    pooled: true,
    delivers,
    weight: model.weight,
    home,
  };
}

/** What the catalogue has on an id; a dated one (`model-20251001`, `model-2025-10-01`) is the model it is a release of. */
function catalogued(id: string, connector: ProviderConnector | undefined): ModelInfo | undefined {
  const undated = id.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, "");
  return connector?.models.find((info) => info.id === id) ?? connector?.models.find((info) => info.id === undated);
}

function withConnectorFacts(info: ModelInfo, connector: ProviderConnector | undefined): ModelInfo {
  const pricing = info.pricing ?? (connector?.local ? [{ input: 0, output: 0 }] : undefined);
  const parameters = mergeRules(connector?.parameters, info.parameters);
  return {
    ...info,
    ...(parameters === undefined ? {} : { parameters }),
    ...(pricing === undefined ? {} : { pricing }),
  };
}

/** The leaves a model serves; what nobody knows anything of is taken for a chat model, or by its name for embeddings. */
function leavesOf({ id, capabilities }: ModelInfo, tree: CapabilityTree): readonly string[] {
  const names = capabilities ?? [/embed/i.test(id) ? "text-embeddings" : "chat-completion"];
  return [...new Set(names.flatMap((name) => tree.leaves(tree.resolve(name) ?? name)))];
}

function pricingOf(
  known: readonly DatedPricing[] | undefined,
  configured: DatedPricing | undefined,
): readonly DatedPricing[] | undefined {
  if (configured === undefined) return known;
  return known?.map((price) => ({ ...price, ...configured })) ?? [configured];
}

function mergeRules(
  one: ParameterRules | undefined,
  other: ParameterRules | undefined,
): ParameterRules | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    rename: { ...one.rename, ...other.rename },
    drop: [...one.drop ?? [], ...other.drop ?? []],
    refuse: [...one.refuse ?? [], ...other.refuse ?? []],
    fill: { ...one.fill, ...other.fill },
    fill_with_tools: { ...one.fill_with_tools, ...other.fill_with_tools },
  };
}
