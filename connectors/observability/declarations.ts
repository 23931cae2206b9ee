/**
 * What is known of sinks before they are used.
 * @module
 */
import type { ConnectorDeclaration } from "../../src/contracts/connector.ts";

/** Lines of text. */
export const consoleDeclaration: ConnectorDeclaration<"observability"> = {
  id: "mesh.console.v1",
  kind: "observability",
  attributes: {
    format: { type: "text", values: ["json", "text"], default: "json", about: "How a record is written." },
  },
};
