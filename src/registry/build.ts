/**
 * Builds a registry from settings.
 * @module
 */
import { servedOperations, servesOperation } from "../capability/operations.ts";
import { CapabilityTree } from "../capability/tree.ts";
import type { ProviderEntry, RoutingSettings } from "../config/settings/settings.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import { createPoolStrategy, fillAsConfigured, type FillParts } from "./configured.ts";
import type { ProviderAnswers } from "./provider_answers.ts";
import { type ProviderInstance, Registry, type RegistryState } from "./registry.ts";

export interface BuildParts extends FillParts {
  readonly state: RegistryState;
  readonly answers?: ProviderAnswers | undefined;
}

/**
 * Builds a registry. Sends nothing.
 *
 * @throws {ConfigError} When a strategy or connector does not exist.
 */
export function buildRegistry(parts: BuildParts): Registry {
  const { settings, state } = parts;
  const tree = new CapabilityTree(settings.capabilities);
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

function createInstance(entry: ProviderEntry, { catalogue, state, discovered, answers }: BuildParts): ProviderInstance {
  const retryBudget = state.retryBudget(entry.id, entry.retryBudget);
  const { problem: listProblem, models: listed } = discovered?.get(entry.id) ?? {};
  const own = answers?.get(entry.id);
  const facts = {
    entry,
    retryBudget,
    ...(own && { answers: own }),
    ...(listed && { listed: new Set(listed.map(({ id }) => id)) }),
    ...(listProblem === undefined ? {} : { listProblem }),
  };
  if (entry.instance !== undefined) return { ...facts, vendor: entry.id, telemetryName: entry.id };
  const connector = catalogue.get("provider", entry.connector) as ProviderDeclaration;
  const { vendor, needsBaseUrl, telemetryName = needsBaseUrl ? entry.id : vendor } = connector;
  return { ...facts, connector, vendor, telemetryName };
}
