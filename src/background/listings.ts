/**
 * Lists the models of providers.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { CallOptions, ModelInfo, ModelListing, Provider } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import { Connection } from "../pipeline/connection.ts";
import { toFailure } from "../pipeline/failure.ts";
import { modelsIn } from "../registry/model_facts.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import { checkModelCount } from "./model_count.ts";

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
 * @returns The results, by provider id.
 */
export async function fetchListings(
  instances: readonly ProviderInstance[],
  parts: DiscoveryParts,
): Promise<ReadonlyMap<string, ModelListing>> {
  const found = new Map<string, ModelListing>();
  await Promise.all(
    instances.map(async (instance) => {
      const { id } = instance.entry;
      const listing = await requestListing(instance, parts);
      found.set(id, listing);
      if (listing.problem === undefined) return;
      const message = `The provider "${id}" ${listing.problem}`;
      parts.hub.trace({ severity: "warning", component: "mesh", message });
    }),
  );
  return found;
}

/**
 * Lists the models of one provider. Never rejects. The problem of a failure names the address.
 *
 * @param instance An opened provider.
 */
export async function requestListing(
  instance: ProviderInstance,
  { runtime, redact }: Pick<DiscoveryParts, "runtime" | "redact">,
): Promise<ModelListing> {
  const { entry } = instance;
  const limits = { ...entry, timeoutMs: Math.min(entry.timeoutMs, listingLimitMs) };
  const connection = new Connection(runtime, { ...instance, entry: limits }, { delivery: "sync" });
  try {
    const models = checkModelCount(await connection.untilAborted(requestModels(instance.provider!, connection)));
    const mayBeEmpty = entry.instance !== undefined && entry.discovery?.enumerateModels === undefined; // its models are configured
    return models.length > 0 || mayBeEmpty ? { models } : { problem: `listed no model${addressIn(connection)}` };
  } catch (error) {
    const { message } = toFailure(connection.stop.aborted ? connection.stop.reason : error, instance.provider!, redact);
    return { problem: `did not list its models: ${message}${addressIn(connection)}` };
  } finally {
    connection.close();
  }
}

/** The address that was asked, without anything that could be a secret. */
function addressIn({ url }: Connection): string {
  if (url === undefined) return "";
  const { origin, pathname } = new URL(url);
  return ` (${origin}${pathname})`;
}

/** Requests the models that a provider has to register. */
export async function requestModels(provider: Provider, options: CallOptions): Promise<readonly ModelInfo[]> {
  return modelsIn(await (provider.discoverModels?.(options) ?? provider.listModels(options)));
}
