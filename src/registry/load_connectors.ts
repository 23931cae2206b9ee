/**
 * Imports the connectors that settings name.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { ConnectorCatalogue } from "./catalogue.ts";

/**
 * Imports the implementations of the providers and strategies that settings name.
 *
 * @throws {ConnectorError} When an import fails.
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
