/**
 * The section `observability`.
 * @module
 */
import type { EventKind, LogLevel, Severity, StatsScope } from "../../contracts/events.ts";
import { defaultLogging, defaultMinSeverity, defaultSink, defaultStatistics } from "../settings/defaults.ts";
import { list, object, oneOrMany, passThrough } from "./_containers.ts";
import { duration, flag, integer, oneOf, text } from "./_fields.ts";
import type { Field } from "./field.ts";

/** What every entry has, as read. */
export interface SinkValues {
  readonly connector?: string;
  readonly url?: string;
  readonly path?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** An entry of `observability.routing`, as read. */
interface RoutingSinkValues extends SinkValues {
  readonly secret?: string;
}

/** An entry of `observability.logging`, as read. */
interface LoggingSinkValues extends SinkValues {
  readonly level?: LogLevel;
  readonly redact_secrets?: boolean;
  readonly max_payload_size?: number;
}

/** An entry of `observability.statistics`, as read. */
interface StatisticsSinkValues extends SinkValues {
  readonly flush_interval?: number;
  readonly retention?: number;
  readonly scopes?: readonly StatsScope[];
}

/** An entry of `observability.tracing`, as read. */
interface TracingSinkValues extends SinkValues {
  readonly min_severity?: Severity;
}

/** The section, as read. */
export interface ObservabilityValues {
  readonly routing?: readonly RoutingSinkValues[];
  readonly logging?: readonly LoggingSinkValues[];
  readonly statistics?: readonly StatisticsSinkValues[];
  readonly tracing?: readonly TracingSinkValues[];
  readonly events?: { readonly filter?: readonly EventKind[]; readonly include_metadata?: boolean };
}

const routing = () =>
  object<RoutingSinkValues>({
    /** The connector that takes the records. */
    connector: text({ isLiteral: true, default: defaultSink }),
    /** Where a connector delivers to. */
    url: text(),
    /** The file a connector writes. */
    path: text(),
    /** What webhook deliveries are signed with. */
    secret: text({ isSecret: true }),
    /** Further attributes of the connector. */
    config: passThrough(),
  });

const logging = () =>
  object<LoggingSinkValues>({
    /** The connector that takes the records. */
    connector: text({ isLiteral: true, default: defaultSink }),
    /** Where a connector delivers to. */
    url: text(),
    /** The file a connector writes. */
    path: text(),
    /** How much of a request is kept: its facts, 200 characters of its payloads, or all of them. */
    level: oneOf<LogLevel>(["metadata", "summary", "full"], defaultLogging.level),
    /** Replace keys and tokens in payloads. */
    redact_secrets: flag({ default: defaultLogging.redactSecrets }),
    /** Bytes of a payload that are kept. */
    max_payload_size: integer({ min: 0, default: defaultLogging.maxPayloadBytes }),
    /** Further attributes of the connector. */
    config: passThrough(),
  });

const statistics = () =>
  object<StatisticsSinkValues>({
    /** The connector that takes the records. */
    connector: text({ isLiteral: true, default: defaultSink }),
    /** Where a connector delivers to. */
    url: text(),
    /** The file a connector writes. */
    path: text(),
    /** How often numbers are written. */
    flush_interval: duration({ min: 1, default: defaultStatistics.flushIntervalMs }),
    /** How long numbers are kept, by connectors that keep them. */
    retention: duration({ min: 1, default: defaultStatistics.retentionMs }),
    /** What numbers are kept for. */
    scopes: list(oneOf<StatsScope>(["model", "provider", "pool"]), { min: 1 }),
    /** Further attributes of the connector. */
    config: passThrough(),
  });

const tracing = () =>
  object<TracingSinkValues>({
    /** The connector that takes the records. */
    connector: text({ isLiteral: true, default: defaultSink }),
    /** Where a connector delivers to. */
    url: text(),
    /** The file a connector writes. */
    path: text(),
    /** The least severe entries that are kept. */
    min_severity: oneOf<Severity>(["debug", "info", "warning", "error", "critical"], defaultMinSeverity),
    /** Further attributes of the connector. */
    config: passThrough(),
  });

/** Where records go. */
export const observability = (): Field<ObservabilityValues> =>
  object<ObservabilityValues>({
    /** Events and routing decisions: one connector, or several. */
    routing: oneOrMany(routing()),
    /** Requests: one connector, or several. */
    logging: oneOrMany(logging()),
    /** Numbers: one connector, or several. */
    statistics: oneOrMany(statistics()),
    /** What happens inside: one connector, or several. */
    tracing: oneOrMany(tracing()),
    /** Which events are emitted. */
    events: object<NonNullable<ObservabilityValues["events"]>>({
      /** Kinds of events; all unless given. */
      filter: list(oneOf<EventKind>(["rotation", "deactivation", "recovery", "health", "budget", "outage", "batch"])),
      /** Whether events carry details. */
      include_metadata: flag({ default: true }),
    }),
  });
