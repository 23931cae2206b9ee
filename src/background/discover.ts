/**
 * Lists the models of providers that are configured for it, and of those without a catalogue, such as local servers
 * and instances passed by a program.
 * @module
 */
import { createOffer, isCallable } from "../config/settings/offers.ts";
import type { ModelListing, Provider } from "../contracts/provider.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import type { DiscoveryParts } from "./listings.ts";

/**
 * Lists the models of the providers to ask. A failure is traced; the provider then has the models of its catalogue, if
 * any.
 *
 * @param instances All providers, opened.
 * @returns The results, by provider id.
 */
export async function discoverModels(
  instances: readonly ProviderInstance[],
  parts: DiscoveryParts,
): Promise<ReadonlyMap<string, ModelListing>> {
  const configured = new Set([...parts.settings.models.values()].map(({ provider }) => provider));
  const discoverable = instances.filter(({ entry, connector, provider }) =>
    createOffer(entry, connector, configured.has(entry.id)) === "list" && isCallable(entry) &&
    (canList(provider) || entry.discovery?.enumerateModels)
  );
  if (discoverable.length === 0) return new Map();
  const { fetchListings: listingsOf } = await import("./listings.ts"); // imported on demand
  return await listingsOf(discoverable, parts);
}

/** Whether a provider implements its list; one that a program passes as an instance may have its calls alone. */
function canList({ discoverModels, listModels }: Partial<Provider> = {}): boolean {
  return [discoverModels, listModels].some((method) => typeof method === "function");
}
