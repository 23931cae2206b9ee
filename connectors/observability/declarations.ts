/**
 * Declarations of the sinks.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import { bucketAttributes } from "../storage/declarations.ts";

/** Writes lines of text. */
export const consoleDeclaration = {
  id: "mesh.console.v1",
  kind: "observability",
  attributes: {
    format: { type: "text", values: ["json", "text"], default: "json", about: "Format of a record." },
    color: { type: "flag", default: false, about: "Whether text lines are colored." },
  },
} as const;

/** Discards all records, for sections whose output is not wanted. */
export const nullObservability: Connector<"observability"> = {
  id: "mesh.null.v1",
  kind: "observability",
  attributes: {},
  create: () => ({ emit() {}, log() {}, trace() {}, flush: () => Promise.resolve() }),
};

/** Writes JSON lines to a file. */
export const localFileDeclaration = {
  id: "mesh.local-file.v1",
  kind: "observability",
  attributes: {
    path: { type: "text", isRequired: true, about: "Path of the file." },
    max_size: {
      type: "size",
      min: 1024,
      default: 67_108_864,
      about:
        "Size at which the file is renamed to `<path>.<time>` and a new one is started. The file is also rotated at midnight UTC.",
    },
    retention: { type: "duration", min: 1, default: 604_800_000, about: "How long rotated files are kept." },
  },
} as const;

/** Writes records to the storage of the mesh. */
export const storageDeclaration = {
  id: "mesh.storage.v1",
  kind: "observability",
  sections: ["logging"],
  needsStorage: true,
  attributes: {
    max_size: {
      type: "size",
      min: 1024,
      default: 1_048_576,
      about: "Size at which a record `logs/<day>` is followed by `logs/<day>-2`, and so on.",
    },
    retention: { type: "duration", min: 1, default: 604_800_000, about: "How long records are kept." },
  },
} as const;

/** How a sink that delivers batches buffers records. */
const batchAttributes = {
  max_buffer: {
    type: "size",
    min: 65_536,
    default: 67_108_864,
    about:
      "Maximum size of the records that wait; beyond it, or beyond 100 000 records, the oldest are dropped and counted.",
  },
  ca: bucketAttributes.ca as typeof bucketAttributes.ca,
} as const;

const s3LogAttributes = {
  prefix: { type: "text", default: "modelmesh-logs/", about: "Prefix of object keys." },
  max_size: {
    type: "size",
    min: 1024,
    default: 67_108_864,
    about: "Size of the records of an object, before compression, at which another object follows.",
  },
  interval: {
    type: "duration",
    min: 1,
    default: 300_000,
    about: "Interval at which the object of the hour is replaced by one with the records since.",
  },
} as const;

/** Writes compressed JSON lines to objects in S3. */
export const s3LogDeclaration: {
  readonly id: "mesh.s3-log.v1";
  readonly kind: "observability";
  readonly attributes: typeof bucketAttributes & typeof s3LogAttributes & typeof batchAttributes;
} = {
  id: "mesh.s3-log.v1",
  kind: "observability",
  attributes: { ...bucketAttributes, ...s3LogAttributes, ...batchAttributes },
};

const clickHouseAttributes = {
  url: {
    type: "url",
    isRequired: true,
    about: "URL of the HTTP interface, such as `https://clickhouse.example.com:8443`.",
  },
  database: { type: "text", default: "default", about: "Name of the database." },
  table: {
    type: "text",
    default: "modelmesh",
    about:
      "Name of the table. `{type}` in it is replaced by the type of the record: `event`, `routing`, `log`, `stats` or `trace`.",
  },
  user: { type: "text", about: "User name." },
  password: { type: "text", about: "Password of the user." },
  create_table: { type: "flag", default: false, about: "Whether tables that do not exist are created." },
  ttl: {
    type: "duration",
    min: 1000,
    about: "How long created tables keep records. They are kept forever by default.",
  },
  settings: { type: "object", about: "Further settings of the queries, such as `{ async_insert_deduplicate: 1 }`." },
  interval: { type: "duration", min: 1, default: 5_000, about: "Interval between inserts." },
} as const;

/** Inserts records into ClickHouse. */
export const clickHouseDeclaration: {
  readonly id: "mesh.clickhouse.v1";
  readonly kind: "observability";
  readonly attributes: typeof clickHouseAttributes & typeof batchAttributes;
} = {
  id: "mesh.clickhouse.v1",
  kind: "observability",
  attributes: { ...clickHouseAttributes, ...batchAttributes },
};

/** Posts each event to a URL. */
export const webhookDeclaration = {
  id: "mesh.webhook.v1",
  kind: "observability",
  sections: ["routing"],
  attributes: {
    url: { type: "url", isRequired: true, about: "URL that each event is posted to." },
    secret: {
      type: "text",
      about: "Secret that signs deliveries (Standard Webhooks): `whsec_` followed by base64, or any other string.",
    },
  },
} as const;

/** Exports metrics in the Prometheus text format. */
export const prometheusDeclaration = {
  id: "mesh.prometheus.v1",
  kind: "observability",
  sections: ["statistics"],
  attributes: {
    path: { type: "text", about: "File that is replaced at each interval, for a textfile collector." },
    url: { type: "url", about: "URL of a Pushgateway group, to which metrics are pushed at each interval." },
  },
} as const;

/** Exports traces and metrics through OTLP. */
export const openTelemetryDeclaration = {
  id: "mesh.opentelemetry.v1",
  kind: "observability",
  sections: ["routing", "statistics"],
  attributes: {
    url: {
      type: "url",
      about:
        "URL of the collector, without `/v1/…`. Defaults to `OTEL_EXPORTER_OTLP_ENDPOINT`, otherwise port 4318 on this machine.",
    },
    headers: { type: "object", about: "Headers sent with every export, such as a token." },
    service_name: {
      type: "text",
      about:
        "Value of `service.name`. Defaults to `OTEL_SERVICE_NAME`, then to that of `OTEL_RESOURCE_ATTRIBUTES`, otherwise `modelmesh`.",
    },
  },
} as const;
