/**
 * What goes on in the background of a mesh: probes, health, maintenance.
 * @module
 */
import { defaultHealth } from "../config/settings/defaults.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Clock, Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import { apiKeyPoolOf } from "../state/limits/api_key_pool.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { HealthMonitor } from "./health.ts";
import { type MaintenancePlan, MaintenanceSchedule } from "./maintenance.ts";
import { probe } from "./probe.ts";

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
 * Starts what the settings ask for; without an interval, a window or a probe at start that is nothing.
 *
 * @param parts What watching needs.
 */
export function startWatch({ settings, registry, state, runtime, hub, redact }: WatchParts): Watch {
  const { clock } = runtime;
  const { enabled, intervalMs, timeoutMs, failureThreshold, providers } = settings.health ?? defaultHealth;
  const health = new HealthMonitor({
    clock,
    hub,
    registry,
    state,
    failureThreshold,
    timeoutMs,
    probe: (instance, limitMs) => probe(withUsableKey(instance, state, clock), { runtime, redact, timeoutMs: limitMs }),
  });
  const maintenance = new MaintenanceSchedule(clock);
  return {
    async begin() {
      maintenance.start(plansOf(registry), state);
      const isWatched = (provider: string) =>
        enabled && intervalMs !== undefined && (providers?.includes(provider) ?? true);
      for (const rest of state.breakers) { // of an earlier process: nobody would end what nobody watches
        const isForProbes = rest.standby?.reason === "health_probe";
        if (isForProbes && !isWatched(rest.owner.provider)) state.report(rest.close(undefined, true));
      }
      const watched = registry.instances.filter(({ entry }) => isWatched(entry.id));
      if (watched.length > 0) health.watch(intervalMs!, watched);
      for (const { name, routing: { recovery } } of registry.pools) {
        if (recovery.probeIntervalMs !== undefined) health.recover(name, recovery.probeIntervalMs);
      }
      const atStart = registry.pools.filter(({ routing }) => routing.recovery.probeOnStart);
      await Promise.all(atStart.map(({ name }) => health.recoverOnce(name)));
    },
    stop() {
      health.stop();
      maintenance.stop();
    },
  };
}

/** A provider with several keys is asked with one that is not refused. */
function withUsableKey(instance: ProviderInstance, state: MeshState, clock: Clock): ProviderInstance {
  const keys = apiKeyPoolOf(state, instance.entry.id);
  return keys === undefined ? instance : { ...instance, credential: keys.usable(clock.monotonic()) };
}

function plansOf({ pools }: Registry): MaintenancePlan[] {
  return pools.flatMap(({ name: pool, routing: { deactivation: { maintenance } } }) =>
    maintenance === undefined ? [] : [{ pool, ...maintenance }]
  );
}
