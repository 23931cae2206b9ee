/**
 * Asking servers without a catalogue, those on one's own machine, which models they have.
 * @module
 */
import type { Settings } from "../config/settings.ts";
import type { ModelListing } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import { Connection } from "../pipeline/connection.ts";
import { failureOf } from "../pipeline/failure.ts";
import type { ProviderHome } from "../registry/registry.ts";
import { untilAborted } from "../util/until_aborted.ts";

/** Longest wait for a list, ms. */
const listingLimitMs = 5_000;

/** What asking needs. */
export interface DiscoveryParts {
  /** Servers whose models are configured are not asked. */
  readonly settings: Settings;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

/**
 * Asks every local server at once. One that does not answer is told and left out.
 *
 * @param homes All providers, opened.
 * @param parts What asking needs.
 * @returns What became of it, by entry id.
 */
export async function discoverModels(
  homes: readonly ProviderHome[],
  parts: DiscoveryParts,
): Promise<ReadonlyMap<string, ModelListing>> {
  const found = new Map<string, ModelListing>();
  const configured = new Set([...parts.settings.models.values()].map(({ provider }) => provider));
  const unlisted = homes.filter(({ entry, connector }) => connector?.local && !configured.has(entry.id));
  await Promise.all(unlisted.map(async (home) => void found.set(home.entry.id, await listingOf(home, parts))));
  return found;
}

async function listingOf(home: ProviderHome, parts: DiscoveryParts): Promise<ModelListing> {
  const { runtime, hub, redact } = parts;
  const { entry } = home;
  const reported = (problem: string): ModelListing => {
    hub.trace({ severity: "warning", component: "mesh", message: `The provider "${entry.id}" ${problem}` });
    return { problem };
  };
  const limits = { ...entry, timeoutMs: Math.min(entry.timeoutMs, listingLimitMs) };
  const connection = new Connection(runtime, { ...home, entry: limits }, "sync");
  try {
    const models = await untilAborted(home.provider!.listModels(connection), connection.stop);
    return models.length > 0 ? { models } : { models, ...reported("listed no model") };
  } catch (error) {
    const { message } = failureOf(connection.stop.aborted ? connection.stop.reason : error, home.provider!, redact);
    return reported(`did not list its models: ${message}`);
  } finally {
    connection.close();
  }
}
