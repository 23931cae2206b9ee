/**
 * The models that providers offer by themselves, as entries of a registry.
 * @module
 */
import type { CapabilityTree } from "../capability/tree.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import type { ModelInfo, ModelListing } from "../contracts/provider.ts";
import { mergeRules } from "./parameter_rules.ts";
import { withAnswers } from "./provider_answers.ts";
import type { ModelEntry, ProviderInstance, Registry } from "./registry.ts";

/**
 * The models that a provider offers: those of the catalogue, or those that it listed itself. Pools at a capability take
 * in the catalogue's defaults, and where it knows none all of them.
 *
 * @param discovered What servers listed, by provider entry id.
 */
export function catalogueModels(
  instance: ProviderInstance,
  { tree }: Registry,
  discovered: ReadonlyMap<string, ModelListing> | undefined,
): ModelEntry[] {
  const known = instance.connector?.models ?? [];
  const listed = discovered?.get(instance.entry.id)?.models;
  const offered = instance.entry.enumerateModels === false ? [] : listed ?? known;
  return offered.map((model) => withAnswers(model, instance.answers?.get(model.id))).map((info) => ({
    name: `${instance.vendor}.${info.id}`,
    info: withConnectorFacts(info, instance.connector),
    leaves: leavesOf(info, tree),
    pooled: known.length === 0 || (info.defaultFor?.length ?? 0) > 0,
    delivers: () => true,
    weight: 1,
    limits: instance.answers?.get(info.id)?.limits,
    instance,
  }));
}

/**
 * Takes in a model. A second account at a vendor, or a second server of one's own, has models of the same names: the
 * entry's id distinguishes them.
 */
export function addDistinct(model: ModelEntry, registry: Registry): void {
  const { instance, info } = model;
  const other = registry.model(model.name);
  const isTaken = other !== undefined && other.instance !== instance;
  registry.addModel(isTaken ? { ...model, name: `${instance.entry.id}.${info.id}` } : model);
}

/**
 * A model with what its connector says of all its models.
 *
 * @param connector Undefined for an instance given by the program.
 */
export function withConnectorFacts(info: ModelInfo, connector: ProviderDeclaration | undefined): ModelInfo {
  return {
    ...info,
    parameters: mergeRules(connector?.parameters, info.parameters),
    pricing: info.pricing ?? (connector?.local ? [{ input: 0, output: 0 }] : undefined),
  };
}

/** The leaves a model serves; an unknown model counts as a chat model, or by its name as one for embeddings. */
export function leavesOf({ id, capabilities }: ModelInfo, tree: CapabilityTree): readonly string[] {
  const names = capabilities ?? [/embed/i.test(id) ? "text-embeddings" : "chat-completion"];
  return [...new Set(names.flatMap((name) => tree.leaves(tree.resolve(name) ?? name)))];
}
