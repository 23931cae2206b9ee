/**
 * The discovery connectors that settings name. They are kept across changes of settings, since they remember lists and
 * failures.
 * @module
 */
import { defaultHealth, defaultSync } from "../config/settings/defaults.ts";
import type { Discovery, HealthMonitoring, RegistrySync } from "../contracts/discovery.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Settings } from "../config/settings/settings.ts";
import { ConnectorError } from "../errors.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import { notifySafely } from "../util/once.ts";

interface ConnectorParts {
  readonly settings: Pick<Settings, "sync" | "health">;
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
}

/** The methods of the connectors for synchronization and probes. */
export type DiscoveryMethods = RegistrySync & HealthMonitoring;

/** Creates discovery connectors, each once. */
export class DiscoveryConnectors {
  readonly #connectors = new Map<string, Promise<Discovery>>();

  /**
   * Returns the connector for synchronization and probes.
   *
   * @throws {ConnectorError} When an import fails, or a method is missing.
   */
  async load(parts: ConnectorParts): Promise<DiscoveryMethods> {
    const { sync = defaultSync, health = defaultHealth } = parts.settings;
    const rules = { timeout: health.timeoutMs, failure_threshold: health.failureThreshold };
    const [syncing, monitoring] = await Promise.all([
      this.#make(sync.connector, sync.actions, parts),
      this.#make(health.connector, rules, parts),
    ]);
    return {
      sync: bound(syncing, "sync", sync.connector),
      getSyncStatus: bound(syncing, "getSyncStatus", sync.connector),
      probe: bound(monitoring, "probe", health.connector),
      getHealthReport: bound(monitoring, "getHealthReport", health.connector),
      clearFailures: (provider) => notifySafely(() => monitoring.clearFailures?.(provider)),
    };
  }

  #make(
    id: string,
    settings: Readonly<Record<string, unknown>>,
    { catalogue, runtime }: ConnectorParts,
  ): Promise<Discovery> {
    const key = JSON.stringify([id, settings]);
    const created = this.#connectors.get(key) ??
      catalogue.load("discovery", id).then(({ create }) => create(settings, runtime));
    this.#connectors.set(key, created);
    return created;
  }
}

function bound<Name extends keyof Discovery>(discovery: Discovery, name: Name, id: string): Required<Discovery>[Name] {
  const method: unknown = discovery[name];
  if (typeof method === "function") return method.bind(discovery);
  throw new ConnectorError(`The discovery connector "${id}" has no ${name}()`);
}
