/**
 * Lists the models of providers.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { CallOptions, ModelInfo, ModelListing, Provider } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import { Connection } from "../pipeline/connection.ts";
import { failureOf } from "../pipeline/failure.ts";
import { modelsIn } from "../registry/model_facts.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import { untilAborted } from "../util/until_aborted.ts";

/** Timeout of a list, ms. */
const listingLimitMs = 5_000;

/** Dependencies of listing. */
export interface DiscoveryParts {
  /** Select the providers to ask. */
  readonly settings: Settings;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Redacts secrets in a string. */
  readonly redact: (text: string) => string;
}

/**
 * Lists the models of providers concurrently. Never rejects; failures are traced.
 *
 * @param instances Opened providers.
 * @param parts Dependencies.
 * @returns The results, by provider id.
 */
export async function listingsOf(
  instances: readonly ProviderInstance[],
  parts: DiscoveryParts,
): Promise<ReadonlyMap<string, ModelListing>> {
  const found = new Map<string, ModelListing>();
  await Promise.all(
    instances.map(async (instance) => void found.set(instance.entry.id, await listingOf(instance, parts))),
  );
  return found;
}

async function listingOf(instance: ProviderInstance, parts: DiscoveryParts): Promise<ModelListing> {
  const { runtime, hub, redact } = parts;
  const { entry } = instance;
  const failed = (problem: string): ModelListing => {
    hub.trace({ severity: "warning", component: "mesh", message: `The provider "${entry.id}" ${problem}` });
    return { problem };
  };
  const limits = { ...entry, timeoutMs: Math.min(entry.timeoutMs, listingLimitMs) };
  const connection = new Connection(runtime, { ...instance, entry: limits }, "sync");
  try {
    const models = await untilAborted(requestModels(instance.provider!, connection), connection.stop);
    const mayBeEmpty = entry.instance !== undefined && entry.enumerateModels === undefined; // its models are configured
    return models.length > 0 || mayBeEmpty ? { models } : failed("listed no model");
  } catch (error) {
    const { message } = failureOf(connection.stop.aborted ? connection.stop.reason : error, instance.provider!, redact);
    return failed(`did not list its models: ${message}`);
  } finally {
    connection.close();
  }
}

/** Requests the models that a provider has to register. */
export async function requestModels(provider: Provider, options: CallOptions): Promise<readonly ModelInfo[]> {
  return modelsIn(await (provider.discoverModels?.(options) ?? provider.listModels(options)));
}
