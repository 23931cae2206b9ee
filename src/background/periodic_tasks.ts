/**
 * Health probes, synchronization and maintenance windows, as configured.
 * @module
 */
import { defaultHealth, defaultSync } from "../config/settings/defaults.ts";
import type { HealthSettings, SyncSettings } from "../config/settings/settings.ts";
import type { ProviderHealth, SyncStatus } from "../contracts/discovery.ts";
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import type { DiscoveryMethods } from "./discovery_connectors.ts";
import { HealthProbes } from "./health.ts";
import { type MaintenancePlan, MaintenanceSchedule } from "./maintenance.ts";
import { probeProvider } from "./probe.ts";
import { MeshSync, type SyncParts } from "./registry_sync.ts";

/** Dependencies of tasks. */
export type MonitoringParts = Omit<SyncParts, "probe">;

/** Runs the configured tasks. */
export class PeriodicTasks {
  /** Settles when the work required before the first request is complete: models in standby have been probed. */
  readonly isBegun: Promise<void>;
  readonly #parts: MonitoringParts;
  readonly #connectors: DiscoveryMethods;
  readonly #health: HealthProbes;
  readonly #maintenance: MaintenanceSchedule;
  readonly #cancels: Cancel[] = [];
  /** The latest sync. Syncs run one after the other. */
  #syncing: Promise<unknown> = Promise.resolve();

  /**
   * Starts the configured tasks. Without an interval, a maintenance window or probes at start, there is nothing to
   * run.
   *
   * @param parts Dependencies.
   * @param connectors The connector for synchronization and probes.
   */
  constructor(parts: MonitoringParts, connectors: DiscoveryMethods) {
    const { registry, state, runtime: { clock } } = parts;
    this.#parts = parts;
    this.#connectors = connectors;
    this.#health = new HealthProbes({ ...parts, clock, monitoring: connectors, probe: this.#probe });
    this.#maintenance = new MaintenanceSchedule(clock);
    this.#maintenance.start(listMaintenancePlans(registry), state);
    this.#monitorHealth();
    for (const [intervalMs, providers] of syncPlan(parts)) {
      this.#cancels.push(clock.every(intervalMs, async () => void await this.sync(providers)));
    }
    const atStart = registry.pools.filter(({ routing }) => routing.recovery.probeOnStart);
    this.isBegun = Promise.all(atStart.map(({ name }) => this.#health.recoverOnce(name))).then(() => {});
  }

  /** Stops the tasks. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
    this.#health.stop();
    this.#maintenance.stop();
  }

  /** Synchronizes the models of providers, by their ids. Never rejects: failures of the connector are traced. */
  sync(providers: readonly string[]): Promise<readonly SyncStatus[]> {
    const { hub } = this.#parts;
    const host = new MeshSync({ ...this.#parts, probe: this.#probe }, providers);
    const synced = this.#syncing.then(() => this.#connectors.sync(host)).catch((): readonly SyncStatus[] => {
      hub.trace({ severity: "error", component: "registry", message: "The registry sync failed" });
      return [];
    });
    this.#syncing = synced;
    return synced.then((statuses) => {
      for (const { provider, problem } of statuses) {
        if (problem === undefined) continue;
        const message = `The models of the provider "${provider}" are unchanged: it ${problem}`;
        hub.trace({ severity: "warning", component: "registry", message });
      }
      return statuses;
    });
  }

  /** Probes a provider now. */
  probe(instance: ProviderInstance): Promise<ProviderHealth | undefined> {
    return this.#health.check(instance);
  }

  readonly #probe: SyncParts["probe"] = (instance, timeoutMs, request) => {
    const { state, runtime, redact } = this.#parts;
    return probeProvider(withUsableKey(instance, state, runtime.clock), { runtime, redact, timeoutMs, request });
  };

  #monitorHealth(): void {
    const { settings, registry, state } = this.#parts;
    const { enabled, intervalMs, providers }: HealthSettings = settings.health ?? defaultHealth;
    const isProbed = (provider: string) =>
      enabled && intervalMs !== undefined && (providers?.includes(provider) ?? true);
    for (const breaker of state.breakers) { // restored overrides, which nothing closes without probes
      const isForProbes = breaker.standby?.reason === "health_probe";
      if (isForProbes && !isProbed(breaker.owner.provider)) state.report(breaker.close(undefined, true));
    }
    const probed = registry.instances.filter(({ entry }) => isProbed(entry.id));
    if (probed.length > 0) this.#health.monitor(intervalMs!, probed);
    for (const { name, routing: { recovery } } of registry.pools) {
      if (recovery.probeIntervalMs !== undefined) this.#health.recover(name, recovery.probeIntervalMs);
    }
  }
}

/** Returns the ids of the providers that are synchronized when none is given. */
export function syncedProviders(
  { settings: { sync }, registry }: Pick<MonitoringParts, "settings" | "registry">,
): string[] {
  const ids = registry.instances.map(({ entry }) => entry.id);
  return sync?.providers === undefined ? ids : ids.filter((id) => sync.providers!.includes(id));
}

/** Returns the providers by their sync interval in ms. */
function syncPlan(parts: MonitoringParts): ReadonlyMap<number, readonly string[]> {
  const { settings, registry } = parts;
  const sync: SyncSettings = settings.sync ?? defaultSync;
  const plan = new Map<number, string[]>();
  if (!sync.enabled) return plan;
  const synced = new Set(syncedProviders(parts));
  for (const { entry: { id, refreshMs } } of registry.instances) {
    const intervalMs = refreshMs ?? (synced.has(id) ? sync.intervalMs : undefined);
    if (intervalMs !== undefined) plan.set(intervalMs, [...plan.get(intervalMs) ?? [], id]);
  }
  return plan;
}

/** Returns the provider with an API key that is not rejected, if it has several. */
function withUsableKey(instance: ProviderInstance, state: MeshState, clock: Clock): ProviderInstance {
  const keys = state.keyPools.get(instance.entry.id);
  return keys === undefined ? instance : { ...instance, credential: keys.usable(clock.monotonic()) };
}

function listMaintenancePlans({ pools }: Registry): MaintenancePlan[] {
  return pools.flatMap(({ name: pool, routing: { deactivation: { maintenance } } }) =>
    maintenance === undefined ? [] : [{ pool, ...maintenance }]
  );
}
