/**
 * Settings of sinks, after validation.
 * @module
 */
import type { Completed } from "../schema/complete.ts";
import type { observability } from "../schema/observability.ts";

type Section = Completed<typeof observability>;
type Entry<Name extends "logging" | "statistics" | "tracing"> = NonNullable<Section[Name]>[number];

/** Settings of an entry that its connector receives. */
export type ConnectorKey = "connector" | "config" | "url" | "path" | "secret" | "retentionMs";

/** How an entry of `observability.logging` logs requests. */
export type LoggingSettings = Omit<Entry<"logging">, ConnectorKey>;

/** What a sink receives; the present member is its section. */
export interface SinkOutput {
  /** Events and routing decisions. */
  readonly routing?: Section["events"];
  /** The request log, including rejected requests. */
  readonly logging?: LoggingSettings;
  /** Statistics. */
  readonly statistics?: Omit<Entry<"statistics">, ConnectorKey>;
  /** Trace entries of at least this severity. */
  readonly tracing?: Omit<Entry<"tracing">, ConnectorKey>;
}

/** A configured sink. */
export interface SinkSettings extends SinkOutput {
  /** Connector id. */
  readonly connector: string;
  /** Attributes of the connector, with unresolved secret references. */
  readonly config: Readonly<Record<string, unknown>>;
}
