/**
 * Defaults of health monitoring and registry sync.
 * @module
 */
import type { HealthSettings, SyncSettings } from "./settings.ts";

/** Applies if an interval is configured. */
export const defaultHealth: HealthSettings = {
  connector: "mesh.health-monitor.v1",
  enabled: true,
  timeoutMs: 10_000,
  failureThreshold: 3,
};

/** Defaults of registry sync. */
export const defaultSync: SyncSettings = { connector: "mesh.registry-sync.v1", enabled: true, actions: {} };
