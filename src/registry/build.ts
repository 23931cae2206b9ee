/**
 * From settings to a registry: providers with their models.
 * @module
 */
import { servesChat } from "../capability/operations.ts";
import { CapabilityTree } from "../capability/tree.ts";
import type { ProviderEntry, Settings } from "../config/settings/settings.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import type { ModelInfo, ModelListing } from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { ConnectorCatalogue } from "./catalogue.ts";
import { mergeRules } from "./parameter_rules.ts";
import { type ProviderAnswers, withAnswers } from "./provider_answers.ts";
import { type ModelEntry, type ProviderInstance, Registry } from "./registry.ts";

/** What a registry is built from. */
export interface BuildParts {
  readonly settings: Settings;
  readonly catalogue: ConnectorCatalogue;
  readonly state: MeshState;
  readonly runtime: Runtime;
  /** What became of asking providers for their models, by entry id. */
  readonly discovered?: ReadonlyMap<string, ModelListing>;
  /** What providers answered about their models. */
  readonly answers?: ProviderAnswers | undefined;
  /** Puts in the models, and the pools that the settings name; the models of the catalogue when left out. */
  readonly fill?: FillRegistry;
}

/** Puts models and pools into a registry that knows its providers. */
export type FillRegistry = (registry: Registry, parts: BuildParts) => void;

/**
 * Builds a registry. Sends nothing.
 *
 * @param parts What it is built from.
 * @throws {ConfigError} When a strategy or connector does not exist.
 */
export function buildRegistry(parts: BuildParts): Registry {
  const { settings, state, fill = fillFromCatalogue } = parts;
  const tree = new CapabilityTree(settings.capabilities);
  const instances = [...settings.providers.values()].filter(({ enabled }) => enabled).map((entry) =>
    instanceOf(entry, parts)
  );
  const makeStrategy = (strategy: string | SelectionStrategy) =>
    typeof strategy === "string"
      ? { id: strategy, instance: strategyOf(strategy, parts) }
      : { id: "custom", instance: strategy };
  const registry = new Registry({ settings, tree, state, makeStrategy }, instances);
  fill(registry, parts);
  return registry;
}

/**
 * Makes a strategy.
 *
 * @param id Its connector's.
 * @param parts The catalogue.
 * @throws {ConfigError} When there is none.
 */
export function strategyOf(id: string, { catalogue, runtime }: BuildParts): SelectionStrategy {
  return catalogue.loaded("strategy", id)?.create({}, runtime) ?? unloaded;
}

/** In pools that are only described: `ready()` loads the strategies and builds the registry anew. */
const unloaded: SelectionStrategy = { select: () => undefined, score: () => 0 };

function fillFromCatalogue(registry: Registry, { discovered }: BuildParts): void {
  for (const instance of registry.instances) {
    for (const model of catalogueModels(instance, registry, discovered)) addDistinct(model, registry);
  }
}

/**
 * The models that a provider offers: those of the catalogue, or those that it listed itself. Pools at a capability take
 * in the catalogue's defaults, and where it knows none all of them.
 *
 * @param instance The provider.
 * @param registry For the tree of capabilities.
 * @param discovered What servers listed, by provider entry id.
 */
export function catalogueModels(
  instance: ProviderInstance,
  { tree }: Registry,
  discovered: BuildParts["discovered"],
): ModelEntry[] {
  const known = instance.connector?.models ?? [];
  const listed = discovered?.get(instance.entry.id)?.models;
  const offered = instance.entry.enumerateModels === false ? [] : listed ?? known;
  return offered.map((model) => withAnswers(model, instance.answers?.get(model.id))).map((info) => ({
    name: `${instance.vendor}.${info.id}`,
    info: withConnectorFacts(info, instance.connector),
    leaves: leavesOf(info, tree),
    pooled: known.length === 0 || (info.defaultFor?.length ?? 0) > 0,
    delivers: (delivery) => delivery !== "batch",
    weight: 1,
    limits: instance.answers?.get(info.id)?.limits,
    instance,
  }));
}

/**
 * Takes in a model. A second account at a vendor, or a second server of one's own, has models of the same names: the
 * entry's id distinguishes them.
 *
 * @param model The model, by its catalogue name.
 * @param registry Where it goes.
 */
export function addDistinct(model: ModelEntry, registry: Registry): void {
  const { instance, info } = model;
  const other = registry.model(model.name);
  const isTaken = other !== undefined && other.instance !== instance;
  registry.addModel(isTaken ? { ...model, name: `${instance.entry.id}.${info.id}` } : model);
}

/**
 * Makes a pool for every leaf that some pooled model serves and some endpoint asks for.
 *
 * @param registry Without configured pools.
 */
export function addLeafPools(registry: Registry): void {
  const served = new Set(registry.models.flatMap(({ pooled, leaves }) => pooled ? leaves : []));
  for (const leaf of registry.tree.leaves()) {
    if (served.has(leaf) && servesChat(leaf)) registry.poolAt(leaf, true);
  }
}

function instanceOf(entry: ProviderEntry, { catalogue, state, discovered, answers }: BuildParts): ProviderInstance {
  const retryBudget = state.retryBudget(entry.id, entry.retryBudget);
  const listProblem = discovered?.get(entry.id)?.problem;
  const own = answers?.get(entry.id);
  const facts = {
    entry,
    retryBudget,
    ...(own && { answers: own }),
    ...(listProblem === undefined ? {} : { listProblem }),
  };
  if (entry.instance !== undefined) return { ...facts, vendor: entry.id };
  const connector = catalogue.get("provider", entry.connector) as ProviderDeclaration;
  return { ...facts, connector, vendor: connector.vendor };
}

/**
 * A model with what its connector says of all its models.
 *
 * @param info The model.
 * @param connector Its provider's; undefined for an instance given by the program.
 */
export function withConnectorFacts(info: ModelInfo, connector: ProviderDeclaration | undefined): ModelInfo {
  return {
    ...info,
    parameters: mergeRules(connector?.parameters, info.parameters),
    pricing: info.pricing ?? (connector?.local ? [{ input: 0, output: 0 }] : undefined),
  };
}

/**
 * The leaves a model serves; an unknown model counts as a chat model, or by its name as one for embeddings.
 *
 * @param info The model.
 * @param tree The tree of capabilities.
 */
export function leavesOf({ id, capabilities }: ModelInfo, tree: CapabilityTree): readonly string[] {
  const names = capabilities ?? [/embed/i.test(id) ? "text-embeddings" : "chat-completion"];
  return [...new Set(names.flatMap((name) => tree.leaves(tree.resolve(name) ?? name)))];
}
