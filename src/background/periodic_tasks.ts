/**
 * Health probes, synchronization and maintenance windows, as configured.
 * @module
 */
import { defaultHealth, defaultSync } from "../config/settings/defaults.ts";
import { isCallable } from "../config/settings/offers.ts";
import type { HealthSettings, SyncSettings } from "../config/settings/settings.ts";
import type { ProviderHealth, SyncStatus } from "../contracts/discovery.ts";
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import type { CircuitBreaker } from "../state/breaker/circuit_breaker.ts";
import { EndDate } from "../state/breaker/end_date.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import { type Cron, lastStart, nextStart } from "../util/cron.ts";
import type { DiscoveryMethods } from "./discovery_connectors.ts";
import { HealthProbes } from "./health.ts";
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

  /** Synchronizes the models of all providers that are synchronized. */
  syncAll(): Promise<readonly SyncStatus[]> {
    return this.sync(syncedProviders(this.#parts));
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
    const probed = registry.instances.filter(({ entry }) => isProbed(entry.id) && isCallable(entry));
    if (probed.length > 0) this.#health.monitor(intervalMs!, probed);
    for (const { name, routing: { recovery } } of registry.pools) {
      if (recovery.probeIntervalMs !== undefined) this.#health.recover(name, recovery.probeIntervalMs);
    }
  }
}

/** Returns the ids of the providers that are synchronized when none is given. */
function syncedProviders(
  { settings: { sync }, registry }: Pick<MonitoringParts, "settings" | "registry">,
): string[] {
  const ids = registry.instances.filter(({ entry }) => isCallable(entry)).map(({ entry }) => entry.id);
  return sync?.providers === undefined ? ids : ids.filter((id) => sync.providers!.includes(id));
}

/** Returns the providers by their sync interval in ms. */
function syncPlan(parts: MonitoringParts): ReadonlyMap<number, readonly string[]> {
  const { settings, registry } = parts;
  const sync: SyncSettings = settings.sync ?? defaultSync;
  const plan = new Map<number, string[]>();
  if (!sync.enabled) return plan;
  const synced = new Set(syncedProviders(parts));
  for (const { entry } of registry.instances.filter(({ entry }) => isCallable(entry))) {
    const { id, catalogue } = entry;
    const intervalMs = catalogue?.refreshIntervalMs ?? (synced.has(id) ? sync.intervalMs : undefined);
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

/** The maintenance window of a pool. */
interface MaintenancePlan {
  readonly pool: string;
  /** Start times, UTC. */
  readonly cron: Cron;
  /** Duration, ms. */
  readonly durationMs: number;
}

/** Maximum time between checks of the calendar, ms, for clocks that do not report steps. */
const maxWaitMs = 3_600_000;

/** Runs one timer per pool with a maintenance window. The windows follow the wall clock, forwards and backwards. */
class MaintenanceSchedule {
  readonly #clock: Clock;
  #cancels: Cancel[] = [];
  /** The start of the latest window of each plan, wall-clock ms. */
  #begun: (number | undefined)[] = [];
  #stopListening: Cancel | undefined;

  /** @param clock Wall clock for the calendar, monotonic clock for standbys. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Starts the schedule, in place of an earlier one.
   *
   * @param state The state of the models.
   */
  start(plans: readonly MaintenancePlan[], state: MeshState): void {
    this.stop();
    if (plans.length === 0) return;
    this.#cancels = plans.map(() => () => {});
    this.#begun = [];
    const checkAll = () => plans.forEach((plan, index) => this.#check(plan, index, state));
    this.#stopListening = this.#clock.onStep?.(checkAll);
    checkAll();
  }

  /** Stops the schedule. Current standbys are kept. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels = [];
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /**
   * Opens overrides during a window. A model that an operator has activated stays active until the next start. When the
   * wall clock was set back to before the start, the window is yet to come.
   */
  #check(plan: MaintenancePlan, index: number, state: MeshState): void {
    const { cron, durationMs } = plan;
    const wallTimeMs = this.#clock.now();
    const began = lastStart(cron, wallTimeMs);
    const before = this.#begun[index];
    this.#begun[index] = began;
    if (before !== undefined && wallTimeMs < before) {
      for (const override of findOverrides(plan, state)) state.report(override.close(undefined, true));
    }
    if (began !== undefined && began !== before && wallTimeMs - began < durationMs) {
      const end = new EndDate(began + durationMs, this.#clock);
      for (const override of findOverrides(plan, state)) {
        state.report(override.open("maintenance_window", this.#clock.monotonic(), end));
      }
    }
    this.#cancels[index]!();
    const next = nextStart(cron, wallTimeMs);
    if (next === undefined) return;
    const wait = Math.min(next - wallTimeMs, maxWaitMs);
    this.#cancels[index] = this.#clock.after(wait, () => this.#check(plan, index, state));
  }
}

/** Returns the overrides for the maintenance of a pool's models. */
function findOverrides({ pool }: MaintenancePlan, { members, overrides }: MeshState): CircuitBreaker[] {
  return members.flatMap((member) =>
    member.pool === pool ? overrides.get(member.state.breaker.owner, "maintenance_window") : []
  );
}
