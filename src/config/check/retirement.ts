/**
 * Detects models that their providers no longer serve, or will soon stop serving.
 * @module
 */
import type { ModelInfo } from "../../contracts/provider.ts";
import type { ConfigProblem } from "../../errors.ts";
import { splitDate } from "../../util/model_ids.ts";
import { show, under } from "../schema/report.ts";
import type { KnownProvider } from "../settings/known.ts";
import { createOffer } from "../settings/offers.ts";
import { isRetiring } from "./is_retiring.ts";
import type { ProviderEntry, Settings } from "../settings/settings.ts";

interface RetirementFacts {
  /** Connectors, with the models of their catalogues. */
  readonly providers: readonly (Pick<KnownProvider, "id" | "vendor"> & { readonly models: readonly ModelInfo[] })[];
  /** Wall-clock time, ms since the Unix epoch. */
  readonly now: number;
}

/**
 * Warnings about models that are retired, or will be within 30 days: configured ones, members of pools, and defaults of
 * providers.
 *
 * @param facts Catalogue and current time.
 */
export function retirementWarnings(settings: Settings, { providers, now }: RetirementFacts): ConfigProblem[] {
  const configured = [...settings.models.values()];
  const named = new Set([...settings.pools.values()].flatMap(({ models }) => {
    return models.flatMap((name) => [name, splitDate(name).undated]);
  }));
  const warnings: ConfigProblem[] = [];
  for (const entry of settings.providers.values()) {
    const connector = findRetirementConnector(entry, providers);
    if (connector === undefined) continue;
    const own = configured.filter(({ provider }) => provider === entry.id);
    const isOffering = createOffer(entry, connector, own.length > 0) === "catalogue";
    for (const { id, retires, defaultFor = [] } of connector.models) {
      if (!isRetiring(retires, now)) continue;
      const message = Date.parse(retires) > now ? `will be retired on ${retires}` : `has been retired since ${retires}`;
      const models = own.filter((model) => model.id === id);
      warnings.push(...models.map(({ name }) => ({ path: under("models", name), message })));
      const name = `${connector.vendor}.${id}`;
      const isNamed = [name, `${connector.vendor}/${id}`, id].some((form) => named.has(form));
      const isPooled = isOffering && models.length === 0 && (defaultFor.length > 0 || isNamed);
      if (isPooled) {
        warnings.push({ path: under("providers", entry.id), message: `its model ${show(name)} ${message}` });
      }
    }
  }
  return warnings;
}

function findRetirementConnector(
  { enabled, instance, connector }: ProviderEntry,
  providers: RetirementFacts["providers"],
) {
  return enabled && instance === undefined ? providers.find(({ id }) => id === connector) : undefined;
}
