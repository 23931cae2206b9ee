/**
 * Determines which models a provider offers in addition to its configured ones.
 * @module
 */
import type { KnownProvider } from "./known.ts";
import type { ProviderEntry } from "./settings.ts";

/** The built-in catalogue, the provider's model list, or none. */
type Offer = "catalogue" | "list" | "none";

/**
 * The source of a provider's models. Without a catalogue, the provider is queried unless models are configured.
 *
 * @param connector Its connector; undefined for an instance passed by a program.
 * @param hasOwn Whether models are configured for it.
 */
export function offerOf(
  { enumerateModels }: Pick<ProviderEntry, "enumerateModels">,
  connector: Pick<KnownProvider, "models"> | undefined,
  hasOwn: boolean,
): Offer {
  if (enumerateModels !== undefined) return enumerateModels ? "list" : "none";
  return connector?.models.length === 0 && !hasOwn ? "list" : "catalogue";
}
