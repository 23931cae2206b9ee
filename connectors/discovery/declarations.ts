/**
 * What is known of discovery before it is used.
 * @module
 */
import type { ConnectorDeclaration } from "../../src/contracts/connector.ts";

/** Keeps the list of models up to date. */
export const registrySyncDeclaration: ConnectorDeclaration<"discovery"> = {
  id: "mesh.registry-sync.v1",
  kind: "discovery",
};

/** Probes providers. */
export const healthMonitorDeclaration: ConnectorDeclaration<"discovery"> = {
  id: "mesh.health-monitor.v1",
  kind: "discovery",
};
