/**
 * Models that providers offer without configuration.
 * @module
 */
import type { CapabilityTree } from "../capability/tree.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import type { ModelInfo, ModelListing } from "../contracts/provider.ts";
import { mergeRules } from "./parameter_rules.ts";
import { withAnswers } from "./provider_answers.ts";
import type { ModelEntry, ProviderInstance, Registry } from "./registry.ts";

/**
 * Returns the models that a provider offers: those of the catalogue, or those it lists itself. Capability pools include
 * the catalogue's default models, or all models if there is no default.
 *
 * @param discovered Models listed by servers, by provider id.
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
 * Adds the metadata that a connector declares for all its models.
 *
 * @param connector Undefined for a provider instance supplied by the program.
 */
export function withConnectorFacts(info: ModelInfo, connector: ProviderDeclaration | undefined): ModelInfo {
  return {
    ...info,
    parameters: mergeRules(connector?.parameters, info.parameters),
    pricing: info.pricing ?? (connector?.local ? [{ input: 0, output: 0 }] : undefined),
  };
}

/**
 * Returns the leaves a model serves. Without known capabilities it counts as a chat model, or as an embedding model by
 * its name.
 */
export function leavesOf({ id, capabilities }: ModelInfo, tree: CapabilityTree): readonly string[] {
  const names = capabilities ?? [/embed/i.test(id) ? "text-embeddings" : "chat-completion"];
  return [...new Set(names.flatMap((name) => tree.leaves(tree.resolve(name) ?? name)))];
}
