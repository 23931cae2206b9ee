/**
 * Which models a provider offers by itself, beside those that a configuration says it has.
 * @module
 */
import type { KnownProvider } from "./known.ts";
import type { ProviderEntry } from "./settings.ts";

/** Those of the built-in catalogue, those that it lists when it is asked, or none. */
type Offer = "catalogue" | "list" | "none";

/**
 * Where the models that a provider offers come from. One without a catalogue is asked unless its models are configured.
 *
 * @param connector Its connector; undefined for an instance given by the program.
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
