/**
 * Declarations of the discovery connectors.
 * @module
 */

/** Syncs the model registry. */
export const registrySyncDeclaration = {
  id: "mesh.registry-sync.v1",
  kind: "discovery",
} as const;

/** Probes providers. */
export const healthMonitorDeclaration = {
  id: "mesh.health-monitor.v1",
  kind: "discovery",
} as const;
