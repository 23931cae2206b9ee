/**
 * Probes, health and maintenance, as settings ask for them.
 * @module
 */
import { defaultHealth } from "../config/settings/defaults.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Clock, Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { HealthMonitor } from "./health.ts";
import { type MaintenancePlan, MaintenanceSchedule } from "./maintenance.ts";
import { probe } from "./probe.ts";

/** What monitors need. */
export interface MonitorParts {
  readonly settings: Settings;
  readonly registry: Registry;
  readonly state: MeshState;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

/** What goes on. */
export interface Monitors {
  /** Settles when what has to be done before the first request is done: models in standby are probed. */
  readonly isBegun: Promise<void>;
  /** Ends it. */
  stop(): void;
}

/**
 * Starts what the settings ask for; without an interval, a window or a probe at start that is nothing.
 *
 * @param parts What monitors need.
 */
export function startMonitors({ settings, registry, state, runtime, hub, redact }: MonitorParts): Monitors {
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
  maintenance.start(plansOf(registry), state);
  const isProbed = (provider: string) => enabled && intervalMs !== undefined && (providers?.includes(provider) ?? true);
  for (const breaker of state.breakers) { // of an earlier process: without probes none would close it
    const isForProbes = breaker.standby?.reason === "health_probe";
    if (isForProbes && !isProbed(breaker.owner.provider)) state.report(breaker.close(undefined, true));
  }
  const probed = registry.instances.filter(({ entry }) => isProbed(entry.id));
  if (probed.length > 0) health.watch(intervalMs!, probed);
  for (const { name, routing: { recovery } } of registry.pools) {
    if (recovery.probeIntervalMs !== undefined) health.recover(name, recovery.probeIntervalMs);
  }
  const atStart = registry.pools.filter(({ routing }) => routing.recovery.probeOnStart);
  return {
    isBegun: Promise.all(atStart.map(({ name }) => health.recoverOnce(name))).then(() => {}),
    stop() {
      health.stop();
      maintenance.stop();
    },
  };
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
