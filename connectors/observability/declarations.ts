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
    color: { type: "flag", default: false, about: "Whether text lines are colored." },
  },
};

/** Nothing. */
export const nullDeclaration: ConnectorDeclaration<"observability"> = {
  id: "mesh.null.v1",
  kind: "observability",
  attributes: {},
};

/** JSON lines in a file. */
export const localFileDeclaration: ConnectorDeclaration<"observability"> = {
  id: "mesh.local-file.v1",
  kind: "observability",
  attributes: {
    path: { type: "text", isRequired: true, about: "The file." },
    max_size: {
      type: "size",
      min: 1024,
      default: "64MiB",
      about: "A larger file is put aside, `<path>.<time>`, and a new one begun; so it is at midnight UTC.",
    },
    retention: { type: "duration", min: 1, default: "7d", about: "How long files put aside are kept." },
  },
};
