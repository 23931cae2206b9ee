/**
 * Where records go, after validation.
 * @module
 */
import type { EventKind, LogLevel, Severity, StatsScope } from "../../contracts/events.ts";

/** Which events sinks get. */
interface EventSettings {
  /** Kinds; undefined: all. */
  readonly filter?: readonly EventKind[];
  /** Whether they carry details. */
  readonly includeMetadata: boolean;
}

/** What an entry of `observability.logging` takes of a request. */
export interface LoggingSettings {
  readonly level: LogLevel;
  /** Whether keys and tokens are replaced in payloads. */
  readonly redactSecrets: boolean;
  /** Bytes of a payload that are kept. */
  readonly maxPayloadBytes: number;
}

/** When an entry of `observability.statistics` gets what numbers. */
interface StatisticsSettings {
  /** ms. */
  readonly flushIntervalMs: number;
  /** Undefined: all. */
  readonly scopes?: readonly StatsScope[];
}

/** What a sink takes; the member that is there says which section it stands in. */
export interface SinkOutput {
  /** Events and routing decisions. */
  readonly routing?: EventSettings;
  /** Requests, refused ones included. */
  readonly logging?: LoggingSettings;
  /** Numbers. */
  readonly statistics?: StatisticsSettings;
  /** Traces from this severity on. */
  readonly tracing?: { readonly minSeverity: Severity };
}

/** One sink as configured. */
export interface SinkSettings extends SinkOutput {
  /** Its connector. */
  readonly connector: string;
  /** Attributes for the connector, secret references unresolved. */
  readonly config: Readonly<Record<string, unknown>>;
}
