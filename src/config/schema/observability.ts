/**
 * The section `observability`.
 * @module
 */
import type { EventKind, LogLevel, Severity, StatsScope } from "../../contracts/events.ts";
import { defaultLogging, defaultMinSeverity, defaultSink, defaultStatistics } from "../settings/defaults.ts";
import { list, object, oneOrMany, passThrough } from "./_containers.ts";
import { duration, flag, integer, oneOf, text } from "./_fields.ts";
import type { Field } from "./field.ts";

/** Keys of every sink, as parsed. */
export interface SinkValues {
  readonly connector?: string;
  readonly url?: string;
  readonly path?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** An entry of `observability.routing`, as parsed. */
interface RoutingSinkValues extends SinkValues {
  readonly secret?: string;
}

/** An entry of `observability.logging`, as parsed. */
interface LoggingSinkValues extends SinkValues {
  readonly level?: LogLevel;
  readonly redact_secrets?: boolean;
  readonly max_payload_size?: number;
}

/** An entry of `observability.statistics`, as parsed. */
interface StatisticsSinkValues extends SinkValues {
  readonly flush_interval?: number;
  readonly retention?: number;
  readonly scopes?: readonly StatsScope[];
}

/** An entry of `observability.tracing`, as parsed. */
interface TracingSinkValues extends SinkValues {
  readonly min_severity?: Severity;
}

/** The section, as parsed. */
export interface ObservabilityValues {
  readonly routing?: readonly RoutingSinkValues[];
  readonly logging?: readonly LoggingSinkValues[];
  readonly statistics?: readonly StatisticsSinkValues[];
  readonly tracing?: readonly TracingSinkValues[];
  readonly events?: { readonly filter?: readonly EventKind[]; readonly include_metadata?: boolean };
}

const routing = () =>
  object<RoutingSinkValues>({
    /** Sink connector. */
    connector: text({ isLiteral: true, default: defaultSink }),
    /** URL that the sink delivers to. */
    url: text(),
    /** File that the sink writes. */
    path: text(),
    /** Secret that signs webhook deliveries. */
    secret: text({ isSecret: true }),
    /** Further settings of the connector. */
    config: passThrough(),
  });

const logging = () =>
  object<LoggingSinkValues>({
    /** Sink connector. */
    connector: text({ isLiteral: true, default: defaultSink }),
    /** URL that the sink delivers to. */
    url: text(),
    /** File that the sink writes. */
    path: text(),
    /**
     * How much of a request is logged: metadata only, the first 200 characters of its payloads (`summary`), or whole
     * payloads (`full`).
     */
    level: oneOf<LogLevel>(["metadata", "summary", "full"], defaultLogging.level),
    /** Whether keys and tokens in payloads are redacted. */
    redact_secrets: flag({ default: defaultLogging.redactSecrets }),
    /** Maximum number of bytes of a payload that are logged. */
    max_payload_size: integer({ min: 0, default: defaultLogging.maxPayloadBytes }),
    /** Further settings of the connector. */
    config: passThrough(),
  });

const statistics = () =>
  object<StatisticsSinkValues>({
    /** Sink connector. */
    connector: text({ isLiteral: true, default: defaultSink }),
    /** URL that the sink delivers to. */
    url: text(),
    /** File that the sink writes. */
    path: text(),
    /** Interval at which statistics are written. */
    flush_interval: duration({ min: 1, default: defaultStatistics.flushIntervalMs }),
    /** How long statistics are kept, by sinks that store them. */
    retention: duration({ min: 1, default: defaultStatistics.retentionMs }),
    /** Scopes of the statistics. All by default. */
    scopes: list(oneOf<StatsScope>(["model", "provider", "pool"]), { min: 1 }),
    /** Further settings of the connector. */
    config: passThrough(),
  });

const tracing = () =>
  object<TracingSinkValues>({
    /** Sink connector. */
    connector: text({ isLiteral: true, default: defaultSink }),
    /** URL that the sink delivers to. */
    url: text(),
    /** File that the sink writes. */
    path: text(),
    /** Minimum severity of traces. */
    min_severity: oneOf<Severity>(["debug", "info", "warning", "error", "critical"], defaultMinSeverity),
    /** Further settings of the connector. */
    config: passThrough(),
  });

/** Sinks for records. */
export const observability = (): Field<ObservabilityValues> =>
  object<ObservabilityValues>({
    /** Sinks for events and routing records: one, or a list. */
    routing: oneOrMany(routing()),
    /** Sinks for request logs: one, or a list. */
    logging: oneOrMany(logging()),
    /** Sinks for statistics: one, or a list. */
    statistics: oneOrMany(statistics()),
    /** Sinks for traces: one, or a list. */
    tracing: oneOrMany(tracing()),
    /** Which events are emitted. */
    events: object<NonNullable<ObservabilityValues["events"]>>({
      /** Kinds of events that are emitted. All by default. */
      filter: list(oneOf<EventKind>(["rotation", "deactivation", "recovery", "health", "budget", "outage", "batch"])),
      /** Whether events include `metadata`. */
      include_metadata: flag({ default: true }),
    }),
  }, { spellings: { observability: "" } });
