/**
 * Models that providers offer without configuration.
 * @module
 */
import { servesOperation } from "../capability/operations.ts";
import type { CapabilityTree } from "../capability/tree.ts";
import { findCatalogued, poolFilter } from "../config/settings/offers.ts";
import type { ProviderEntry } from "../config/settings/settings.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import type { ModelInfo, ModelListing, ParameterRules } from "../contracts/provider.ts";
import { splitDate } from "../util/model_ids.ts";
import { findNamedModels } from "./named_models.ts";
import { mergeRules, withQueriedFacts } from "./queried_facts.ts";
import type { ModelEntry, ProviderInstance, Registry } from "./registry.ts";

/**
 * Returns the models that a provider offers: those of the catalogue, or those it lists itself.
 *
 * @param discovered Models listed by providers, by provider id.
 */
export function catalogueModels(
  instance: ProviderInstance,
  { tree }: Registry,
  discovered: ReadonlyMap<string, ModelListing> | undefined,
): ModelEntry[] {
  const { entry, connector, vendor, queried } = instance;
  const { models: catalogue = [] } = connector ?? {};
  const listed = discovered?.get(entry.id)?.models;
  const infos = offeredInfos(entry, catalogue, listed).map((info) => withQueriedFacts(info, queried?.get(info.id)));
  // an instance is queried in place of a catalogue, unless its list is asked for explicitly
  const isListed = listed !== undefined && (entry.instance === undefined || entry.discovery?.enumerateModels === true);
  const isPooled = poolFilter(infos, { catalogue, isListed });
  return infos.map((info) => ({
    name: `${vendor}.${info.id}`,
    info: withConnectorFacts(info, connector, tree),
    leaves: findLeaves(info, tree),
    pooled: isPooled(info),
    delivers: () => true,
    weight: 1,
    limits: queried?.get(info.id)?.limits,
    instance,
  }));
}

/** Completes a provider's list by what its catalogue knows about the models. */
function offeredInfos(
  { discovery }: ProviderEntry,
  catalogue: readonly ModelInfo[],
  listed: readonly ModelInfo[] | undefined,
): readonly ModelInfo[] {
  if (discovery?.enumerateModels === false) return [];
  if (listed === undefined) return catalogue;
  const catalogued = new Map(catalogue.map((info) => [info.id, info]));
  return listed.map((info) => ({ ...findCatalogued(info.id, (id) => catalogued.get(id)), ...info }));
}

/**
 * Adds a model to a registry. If another account or server has a model of the same name, the provider's id is used as
 * prefix.
 */
export function addDistinct(model: ModelEntry, registry: Registry): void {
  const { instance, info } = model;
  const other = registry.model(model.name);
  const isTaken = other !== undefined && other.instance !== instance;
  registry.addModel(isTaken ? { ...model, name: `${instance.entry.id}.${info.id}` } : model);
}

/**
 * Finds the models that a name in the configuration means. A dated id of a known model becomes a model of its own, with
 * the facts of the known one, so that the id is sent as it is configured.
 *
 * @param name A name in the list of a pool, or the target of an alias.
 * @param registry Receives the dated model.
 */
export function findConfiguredModels(name: string, registry: Registry): readonly ModelEntry[] {
  const named = findNamedModels(name, registry);
  if (named === undefined) return [];
  const { date } = splitDate(name);
  if (date === "" || named.name === name) return named.models;
  return named.models.map((model) => addRelease(model, date, registry));
}

function addRelease(model: ModelEntry, date: string, registry: Registry): ModelEntry {
  const { info, instance } = model;
  const id = `${info.id}${date}`;
  addDistinct({ ...model, name: `${instance.vendor}.${id}`, info: { ...info, id }, pooled: false }, registry);
  return registry.modelsByUpstreamId(id).find((release) => release.instance === instance) ?? model;
}

/**
 * Adds the metadata that a connector declares for all its models, and for chat models that its catalogue does not know.
 *
 * @param connector Undefined for a provider instance supplied by the program.
 */
export function withConnectorFacts(
  info: ModelInfo,
  connector: ProviderDeclaration | undefined,
  tree: CapabilityTree,
): ModelInfo {
  const own = mergeRules(connector?.parameters, connector && findFamilyRules(info, connector, tree));
  const pricing = completePricing(info, connector) ?? (connector?.local ? [{ input: 0, output: 0 }] : undefined);
  const { assumedPrices } = connector ?? {};
  return {
    ...info,
    parameters: mergeRules(own, info.parameters),
    pricing,
    ...(pricing === undefined && assumedPrices !== undefined && { assumedPricing: [assumedPrices] }),
  };
}

/** Prices that the catalogue does not contain are completed by the vendor's rules. */
function completePricing(
  { id, pricing }: ModelInfo,
  { completePrices }: Partial<ProviderDeclaration> = {},
): ModelInfo["pricing"] {
  return completePrices === undefined ? pricing : pricing?.map((row) => completePrices(row, id));
}

function findFamilyRules(
  info: ModelInfo,
  { models, findRules }: ProviderDeclaration,
  tree: CapabilityTree,
): ParameterRules | undefined {
  if (findRules === undefined) return undefined;
  if (findCatalogued(info.id, (id) => models.find((model) => model.id === id)) !== undefined) return undefined;
  return findLeaves(info, tree).some((leaf) => servesOperation(leaf, "chat")) ? findRules(info) : undefined;
}

/**
 * Returns the leaves a model serves. Without known capabilities it counts as a chat model, or as an embedding model by
 * its name.
 */
export function findLeaves({ id, capabilities }: ModelInfo, tree: CapabilityTree): readonly string[] {
  const names = capabilities ?? [/embed/i.test(id) ? "text-embeddings" : "chat-completion"];
  return [...new Set(names.flatMap((name) => tree.leaves(tree.resolve(name) ?? name)))];
}
