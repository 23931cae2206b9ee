/**
 * Which providers are asked for the models they have: those that are configured so, and those without a catalogue, such
 * as servers on one's own machine.
 * @module
 */
import { offerOf } from "../config/settings/offers.ts";
import type { ModelListing } from "../contracts/provider.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import type { DiscoveryParts } from "./listings.ts";

/**
 * Asks all that are to be asked. One that does not answer is logged; it has the models of its catalogue, if any.
 *
 * @param instances All providers, opened.
 * @param parts What asking needs.
 * @returns What became of it, by entry id.
 */
export async function discoverModels(
  instances: readonly ProviderInstance[],
  parts: DiscoveryParts,
): Promise<ReadonlyMap<string, ModelListing>> {
  const configured = new Set([...parts.settings.models.values()].map(({ provider }) => provider));
  const asked = instances.filter(({ entry, connector }) =>
    offerOf(entry, connector, configured.has(entry.id)) === "list"
  );
  if (asked.length === 0) return new Map();
  const { listingsOf } = await import("./listings.ts"); // most pages ask no provider
  return await listingsOf(asked, parts);
}
