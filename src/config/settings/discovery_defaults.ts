/**
 * The defaults of what watches over providers and their models.
 * @module
 */
import type { HealthSettings, SyncSettings } from "./settings.ts";

/** Applies once an interval is configured. */
export const defaultHealth: HealthSettings = {
  connector: "mesh.health-monitor.v1",
  enabled: true,
  timeoutMs: 10_000,
  failureThreshold: 3,
};

/** Keeping the list of models up to date. */
export const defaultSync: SyncSettings = { connector: "mesh.registry-sync.v1", enabled: true, actions: {} };
