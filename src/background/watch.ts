/**
 * What goes on in the background of a mesh: probes, health, maintenance.
 * @module
 */
import { defaultHealth } from "../config/settings/defaults.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { Pool, Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { HealthMonitor } from "./health.ts";
import type { MaintenancePlan, MaintenanceSchedule } from "./maintenance.ts";

/** What watching needs. */
export interface WatchParts {
  readonly settings: Settings;
  readonly registry: Registry;
  readonly state: MeshState;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

/** What goes on. */
export interface Watch {
  /** What has to be done before the first request: calendars are looked at, resting models probed. */
  begin(): Promise<void>;
  /** Ends it. */
  stop(): void;
}

/**
 * Starts what the settings ask for; without an interval, a window or a probe at start that is nothing. What most pages
 * do without is imported when it is asked for.
 *
 * @param parts What watching needs.
 */
export function startWatch(parts: WatchParts): Watch {
  const { settings, registry, state, runtime: { clock } } = parts;
  const { enabled, intervalMs, providers } = settings.health ?? defaultHealth;
  const isWatched = (provider: string) =>
    enabled && intervalMs !== undefined && (providers?.includes(provider) ?? true);
  const watched = registry.instances.filter(({ entry }) => isWatched(entry.id));
  const probed = registry.pools.filter(({ routing: { recovery } }) =>
    recovery.probeIntervalMs !== undefined || recovery.probeOnStart
  );
  let maintenance: MaintenanceSchedule | undefined;
  let health: HealthMonitor | undefined;
  let isStopped = false;
  return {
    async begin() {
      const plans = plansOf(registry);
      if (plans.length > 0) {
        const { MaintenanceSchedule } = await import("./maintenance.ts");
        if (isStopped) return;
        maintenance = new MaintenanceSchedule(clock);
        maintenance.start(plans, state);
      }
      for (const rest of state.breakers) { // of an earlier process: nobody would end what nobody watches
        const isForProbes = rest.standby?.reason === "health_probe";
        if (isForProbes && !isWatched(rest.owner.provider)) state.report(rest.close(undefined, true));
      }
      if (watched.length + probed.length === 0) return;
      const { healthMonitorOf } = await import("./health_monitor_of.ts");
      if (isStopped) return;
      health = healthMonitorOf(parts);
      if (watched.length > 0) health.watch(intervalMs!, watched);
      await probePools(health, probed);
    },
    stop() {
      isStopped = true;
      health?.stop();
      maintenance?.stop();
    },
  };
}

async function probePools(health: HealthMonitor, pools: readonly Pool[]): Promise<void> {
  for (const { name, routing: { recovery } } of pools) {
    if (recovery.probeIntervalMs !== undefined) health.recover(name, recovery.probeIntervalMs);
  }
  const atStart = pools.filter(({ routing }) => routing.recovery.probeOnStart);
  await Promise.all(atStart.map(({ name }) => health.recoverOnce(name)));
}

function plansOf({ pools }: Registry): MaintenancePlan[] {
  return pools.flatMap(({ name: pool, routing: { deactivation: { maintenance } } }) =>
    maintenance === undefined ? [] : [{ pool, ...maintenance }]
  );
}
