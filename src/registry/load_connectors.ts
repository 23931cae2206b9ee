/**
 * What a start imports of connectors.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { ConnectorCatalogue } from "./catalogue.ts";

/**
 * Imports the code of the providers and strategies that settings name, and of no others.
 *
 * @throws {ConnectorError} When code cannot be imported.
 */
export async function loadConnectors(
  { providers, pools, defaultRouting }: Settings,
  catalogue: ConnectorCatalogue,
): Promise<void> {
  const entries = [...providers.values()].filter(({ enabled, instance }) => enabled && instance === undefined);
  const routings = [defaultRouting, ...[...pools.values()].map(({ routing }) => routing)];
  const strategies = routings.flatMap(({ strategy, fallbackStrategy }) => [strategy, fallbackStrategy]);
  await Promise.all([
    ...entries.map(({ connector }) => catalogue.load("provider", connector)),
    ...strategies.map((id) => typeof id === "string" ? catalogue.load("strategy", id) : undefined),
  ]);
}
