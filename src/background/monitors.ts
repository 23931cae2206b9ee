/**
 * Probes, health and maintenance, as settings ask for them.
 * @module
 */
import { defaultHealth, defaultSync } from "../config/settings/discovery_defaults.ts";
import type { Discovery, ProviderHealth, SyncStatus } from "../contracts/discovery.ts";
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { HealthMonitor } from "./health.ts";
import { type MaintenancePlan, MaintenanceSchedule } from "./maintenance.ts";
import { probe, type ProbeResult } from "./probe.ts";
import { MeshSync, type SyncParts } from "./registry_sync.ts";

/** What monitors need. */
export type MonitorParts = Omit<SyncParts, "probe">;

/** What goes on. */
export class Monitors {
  /** Settles when what has to be done before the first request is done: models in standby are probed. */
  readonly isBegun: Promise<void>;
  readonly #parts: MonitorParts;
  readonly #connectors: Required<Discovery>;
  readonly #health: HealthMonitor;
  readonly #maintenance: MaintenanceSchedule;
  readonly #cancels: Cancel[] = [];
  /** A sync begins when the one before is over. */
  #syncing: Promise<unknown> = Promise.resolve();

  /**
   * Starts what the settings ask for; without an interval, a window or a probe at start that is nothing.
   *
   * @param parts What monitors need.
   * @param connectors What syncs and probes.
   */
  constructor(parts: MonitorParts, connectors: Required<Discovery>) {
    const { registry, state, runtime: { clock } } = parts;
    this.#parts = parts;
    this.#connectors = connectors;
    this.#health = new HealthMonitor({ ...parts, clock, monitoring: connectors, probe: this.#probe });
    this.#maintenance = new MaintenanceSchedule(clock);
    this.#maintenance.start(plansOf(registry), state);
    this.#watchHealth();
    for (const [intervalMs, providers] of syncPlan(parts)) {
      this.#cancels.push(clock.every(intervalMs, async () => void await this.sync(providers)));
    }
    const atStart = registry.pools.filter(({ routing }) => routing.recovery.probeOnStart);
    this.isBegun = Promise.all(atStart.map(({ name }) => this.#health.recoverOnce(name))).then(() => {});
  }

  /** Ends it. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
    this.#health.stop();
    this.#maintenance.stop();
  }

  /** Brings the models of providers up to date, by their entry ids. Never throws: a connector that does is traced. */
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
        const message = `The models of the provider "${provider}" are as they were: it ${problem}`;
        hub.trace({ severity: "warning", component: "registry", message });
      }
      return statuses;
    });
  }

  /** Probes a provider now. */
  probe(instance: ProviderInstance): Promise<ProviderHealth | undefined> {
    return this.#health.check(instance);
  }

  readonly #probe = (instance: ProviderInstance, timeoutMs: number): Promise<ProbeResult> => {
    const { state, runtime, redact } = this.#parts;
    return probe(withUsableKey(instance, state, runtime.clock), { runtime, redact, timeoutMs });
  };

  #watchHealth(): void {
    const { settings, registry, state } = this.#parts;
    const { enabled, intervalMs, providers } = settings.health ?? defaultHealth;
    const isProbed = (provider: string) =>
      enabled && intervalMs !== undefined && (providers?.includes(provider) ?? true);
    for (const breaker of state.breakers) { // of an earlier process: without probes none would close it
      const isForProbes = breaker.standby?.reason === "health_probe";
      if (isForProbes && !isProbed(breaker.owner.provider)) state.report(breaker.close(undefined, true));
    }
    const probed = registry.instances.filter(({ entry }) => isProbed(entry.id));
    if (probed.length > 0) this.#health.watch(intervalMs!, probed);
    for (const { name, routing: { recovery } } of registry.pools) {
      if (recovery.probeIntervalMs !== undefined) this.#health.recover(name, recovery.probeIntervalMs);
    }
  }
}

/** Entry ids of the providers that are synced at all when nothing says when. */
export function syncedProviders(
  { settings: { sync }, registry }: Pick<MonitorParts, "settings" | "registry">,
): string[] {
  const ids = registry.instances.map(({ entry }) => entry.id);
  return sync?.providers === undefined ? ids : ids.filter((id) => sync.providers!.includes(id));
}

/** Providers by the interval in which each is asked for its list, ms. */
function syncPlan(parts: MonitorParts): ReadonlyMap<number, readonly string[]> {
  const { settings: { sync = defaultSync }, registry } = parts;
  const plan = new Map<number, string[]>();
  if (!sync.enabled) return plan;
  const synced = new Set(syncedProviders(parts));
  for (const { entry: { id, refreshMs } } of registry.instances) {
    const intervalMs = refreshMs ?? (synced.has(id) ? sync.intervalMs : undefined);
    if (intervalMs !== undefined) plan.set(intervalMs, [...plan.get(intervalMs) ?? [], id]);
  }
  return plan;
}

/** A provider with several keys is asked with one that is not refused. */
function withUsableKey(instance: ProviderInstance, state: MeshState, clock: Clock): ProviderInstance {
  const keys = state.keyPools.get(instance.entry.id);
  return keys === undefined ? instance : { ...instance, credential: keys.usable(clock.monotonic()) };
}

function plansOf({ pools }: Registry): MaintenancePlan[] {
  return pools.flatMap(({ name: pool, routing: { deactivation: { maintenance } } }) =>
    maintenance === undefined ? [] : [{ pool, ...maintenance }]
  );
}
