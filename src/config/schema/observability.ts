/**
 * The section `observability`.
 * @module
 */
import type { Given } from "./field.ts";
import { defaultSink } from "../settings/defaults.ts";

/** The section `observability`. */
export const observability = {
  type: "object",
  spellings: { observability: "" },
  fields: {
    /** Sinks for events and routing records: one, or a list. */
    routing: {
      type: "list",
      isSingleAllowed: true,
      item: {
        type: "object",
        fields: {
          /** Sink connector. */
          connector: { type: "text", isLiteral: true, default: defaultSink as string },
          /** URL that the sink delivers to. */
          url: { type: "text" },
          /** File that the sink writes. */
          path: { type: "text" },
          /** Secret that signs webhook deliveries. */
          secret: { type: "text", isSecret: true },
          /** Further settings of the connector. */
          config: { type: "any" },
        },
      },
      min: 1,
    },
    /** Sinks for request logs: one, or a list. */
    logging: {
      type: "list",
      isSingleAllowed: true,
      item: {
        type: "object",
        fields: {
          /** Sink connector. */
          connector: { type: "text", isLiteral: true, default: defaultSink as string },
          /** URL that the sink delivers to. */
          url: { type: "text" },
          /** File that the sink writes. */
          path: { type: "text" },
          /**
           * How much of a request is logged: metadata only, the first 200 characters of its payloads (`summary`), or
           * whole payloads (`full`).
           */
          level: { type: "choice", values: ["metadata", "summary", "full"], default: "metadata" },
          /** Whether keys and tokens in payloads are redacted. */
          redact_secrets: { type: "flag", default: true },
          /** Maximum number of bytes of a payload that are logged. */
          max_payload_size: { type: "integer", min: 0, default: 65_536 },
          /** Further settings of the connector. */
          config: { type: "any" },
        },
      },
      min: 1,
    },
    /** Sinks for statistics: one, or a list. */
    statistics: {
      type: "list",
      isSingleAllowed: true,
      item: {
        type: "object",
        fields: {
          /** Sink connector. */
          connector: { type: "text", isLiteral: true, default: defaultSink as string },
          /** URL that the sink delivers to. */
          url: { type: "text" },
          /** File that the sink writes. */
          path: { type: "text" },
          /** Interval at which statistics are written. */
          flush_interval: { type: "duration", min: 1, default: 60_000 },
          /** How long statistics are kept, by sinks that store them. */
          retention: { type: "duration", min: 1, default: 604_800_000 },
          /** Scopes of the statistics. All by default. */
          scopes: { type: "list", min: 1, item: { type: "choice", values: ["model", "provider", "pool"] } },
          /** Further settings of the connector. */
          config: { type: "any" },
        },
      },
      min: 1,
    },
    /** Sinks for traces: one, or a list. */
    tracing: {
      type: "list",
      isSingleAllowed: true,
      item: {
        type: "object",
        fields: {
          /** Sink connector. */
          connector: { type: "text", isLiteral: true, default: defaultSink as string },
          /** URL that the sink delivers to. */
          url: { type: "text" },
          /** File that the sink writes. */
          path: { type: "text" },
          /** Minimum severity of traces. */
          min_severity: { type: "choice", values: ["debug", "info", "warning", "error", "critical"], default: "info" },
          /** Further settings of the connector. */
          config: { type: "any" },
        },
      },
      min: 1,
    },
    /** Which events are emitted. */
    events: {
      type: "object",
      fields: {
        /** Kinds of events that are emitted. All by default. */
        filter: {
          type: "list",
          item: {
            type: "choice",
            values: ["rotation", "deactivation", "recovery", "health", "budget", "outage", "batch", "guard"],
          },
        },
        /** Whether events include `metadata`. */
        include_metadata: { type: "flag", default: true },
      },
    },
  },
} as const;

/** The section as given. */
export type ObservabilityValues = Given<typeof observability>;
