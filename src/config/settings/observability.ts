/**
 * Settings of sinks, after validation.
 * @module
 */
import type { EventKind, LogLevel, Severity, StatsScope } from "../../contracts/events.ts";

/** Events that sinks receive. */
interface EventSettings {
  /** Kinds of events; undefined for all. */
  readonly filter?: readonly EventKind[];
  /** Whether events include metadata. */
  readonly includeMetadata: boolean;
}

/** How an entry of `observability.logging` logs requests. */
export interface LoggingSettings {
  readonly level: LogLevel;
  /** Whether API keys and tokens in payloads are redacted. */
  readonly redactSecrets: boolean;
  /** Maximum logged size of a payload, bytes. */
  readonly maxPayloadBytes: number;
}

/** Settings of an entry of `observability.statistics`. */
interface StatisticsSettings {
  /** Interval between flushes, ms. */
  readonly flushIntervalMs: number;
  /** Subjects of statistics; undefined for all. */
  readonly scopes?: readonly StatsScope[];
}

/** What a sink receives; the present member is its section. */
export interface SinkOutput {
  /** Events and routing decisions. */
  readonly routing?: EventSettings;
  /** The request log, including rejected requests. */
  readonly logging?: LoggingSettings;
  /** Statistics. */
  readonly statistics?: StatisticsSettings;
  /** Trace entries of at least this severity. */
  readonly tracing?: { readonly minSeverity: Severity };
}

/** A configured sink. */
export interface SinkSettings extends SinkOutput {
  /** Connector id. */
  readonly connector: string;
  /** Attributes of the connector, with unresolved secret references. */
  readonly config: Readonly<Record<string, unknown>>;
}
