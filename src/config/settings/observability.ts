/**
 * Settings of sinks, after validation.
 * @module
 */
import type { Completed } from "../schema/complete.ts";
import type { observability } from "../schema/observability.ts";

type Section = Completed<typeof observability>;
type Entry<Name extends "logging" | "statistics" | "tracing"> = NonNullable<Section[Name]>[number];

/** How an entry of `observability.logging` logs requests. */
export type LoggingSettings = Pick<Entry<"logging">, "level" | "redactSecrets" | "maxPayloadSize">;

/** What a sink receives; the present member is its section. */
export interface SinkOutput {
  /** Events and routing decisions. */
  readonly routing?: Section["events"];
  /** The request log, including rejected requests. */
  readonly logging?: LoggingSettings;
  /** Statistics. */
  readonly statistics?: Pick<Entry<"statistics">, "flushIntervalMs" | "scopes">;
  /** Trace entries of at least this severity. */
  readonly tracing?: Pick<Entry<"tracing">, "minSeverity">;
}

/** A configured sink. */
export interface SinkSettings extends SinkOutput {
  /** Connector id. */
  readonly connector: string;
  /** Attributes of the connector, with unresolved secret references. */
  readonly config: Readonly<Record<string, unknown>>;
}
