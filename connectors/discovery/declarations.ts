/**
 * Declarations of the discovery connectors.
 * @module
 */
import type { ConnectorDeclaration } from "../../src/contracts/connector.ts";

/** Syncs the model registry. */
export const registrySyncDeclaration: ConnectorDeclaration<"discovery"> = {
  id: "mesh.registry-sync.v1",
  kind: "discovery",
};

/** Probes providers. */
export const healthMonitorDeclaration: ConnectorDeclaration<"discovery"> = {
  id: "mesh.health-monitor.v1",
  kind: "discovery",
};
