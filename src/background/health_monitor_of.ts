/**
 * The health monitor of a mesh, as its settings ask for.
 * @module
 */
import { defaultHealth } from "../config/settings/defaults.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import { apiKeyPoolOf } from "../state/limits/key_pools.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { HealthMonitor } from "./health.ts";
import { probe } from "./probe.ts";
import type { WatchParts } from "./watch.ts";

/**
 * Makes it; it asks nothing yet.
 *
 * @param parts What watching needs.
 */
export function healthMonitorOf({ settings, registry, state, runtime, hub, redact }: WatchParts): HealthMonitor {
  const { clock } = runtime;
  const { timeoutMs, failureThreshold } = settings.health ?? defaultHealth;
  return new HealthMonitor({
    clock,
    hub,
    registry,
    state,
    failureThreshold,
    timeoutMs,
    probe: (instance, limitMs) => probe(withUsableKey(instance, state, clock), { runtime, redact, timeoutMs: limitMs }),
  });
}

/** A provider with several keys is asked with one that is not refused. */
function withUsableKey(instance: ProviderInstance, state: MeshState, clock: Clock): ProviderInstance {
  const keys = apiKeyPoolOf(state, instance.entry.id);
  return keys === undefined ? instance : { ...instance, credential: keys.usable(clock.monotonic()) };
}
