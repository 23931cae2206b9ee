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

/** Records in the storage of the mesh. */
export const storageDeclaration: ConnectorDeclaration<"observability"> = {
  id: "mesh.storage.v1",
  kind: "observability",
  sections: ["logging"],
  needsStorage: true,
  attributes: {
    max_size: {
      type: "size",
      min: 1024,
      default: "1MiB",
      about: "A record `logs/<day>` that has grown to this is followed by `logs/<day>-2` and so on.",
    },
    retention: { type: "duration", min: 1, default: "7d", about: "How long the records of a day are kept." },
  },
};

/** Events, each posted to a URL. */
export const webhookDeclaration: ConnectorDeclaration<"observability"> = {
  id: "mesh.webhook.v1",
  kind: "observability",
  sections: ["routing"],
  attributes: {
    url: { type: "url", isRequired: true, about: "Where each event is posted to." },
    secret: {
      type: "text",
      about: "What deliveries are signed with (Standard Webhooks): `whsec_` and base64, or any other text as it is.",
    },
  },
};

/** Metrics in Prometheus' text format. */
export const prometheusDeclaration: ConnectorDeclaration<"observability"> = {
  id: "mesh.prometheus.v1",
  kind: "observability",
  sections: ["statistics"],
  attributes: {
    path: { type: "text", about: "A file that is replaced at each interval, for a collector of text files." },
    url: { type: "url", about: "Where metrics are put at each interval: a group of a Pushgateway." },
  },
};

/** Traces and metrics by OTLP. */
export const openTelemetryDeclaration: ConnectorDeclaration<"observability"> = {
  id: "mesh.opentelemetry.v1",
  kind: "observability",
  sections: ["routing", "statistics"],
  attributes: {
    url: {
      type: "url",
      about: "The collector's address without `/v1/…`; by default `OTEL_EXPORTER_OTLP_ENDPOINT`, else port 4318 here.",
    },
    headers: { type: "object", about: "Headers of every export, such as a token." },
    service_name: { type: "text", about: "`service.name`; by default `OTEL_SERVICE_NAME`, else `modelmesh`." },
  },
};
