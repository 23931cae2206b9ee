/**
 * The console sink of a running proxy, with `--log-level` and `--log-format`.
 * @module
 */
import { defaultSink } from "../config/settings/defaults.ts";
import type { Connector, PluggableConnector } from "../contracts/connector.ts";
import type { LogRecord, NoticeRecord, RequestLogRecord, Severity } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import { implementationOf } from "../registry/catalogue.ts";
import { type CommandParts, type Flags, UsageError } from "./command.ts";

/** Severities in ascending order. */
export const severities: readonly Severity[] = ["debug", "info", "warning", "error", "critical"];

/** Output formats. */
const formats = ["text", "json"];

/**
 * Returns the connector of the console sink on standard error. It writes text to a terminal and JSON elsewhere, unless
 * an option or the configuration sets the format. The proxy's own sink and configured console sinks use it.
 *
 * @throws {UsageError} For an unknown level or format.
 */
export async function consoleConnector(
  flags: Flags,
  { connectors, shell }: CommandParts,
): Promise<Connector<"observability">> {
  const minSeverity = oneOf(severities, flags, "log-level");
  const minLevel = severities.indexOf(minSeverity ?? "debug");
  const format = oneOf(formats, flags, "log-format");
  const connector = connectors.find(({ id }) => id === defaultSink) as PluggableConnector<"observability">;
  const implementation = await implementationOf(connector);
  /**
   * Whether a line is logged. The level of a request's line is its level of detail and not a severity, so it always is.
   */
  const isLogged = ({ level }: LogRecord | RequestLogRecord | NoticeRecord) => {
    const rank = severities.indexOf(level as Severity);
    return rank < 0 || rank >= minLevel;
  };
  return {
    id: connector.id,
    kind: connector.kind,
    create(config, runtime): Observability {
      const sink = implementation.create({
        format: shell.stderr.isTerminal ? "text" : "json",
        color: shell.stderr.isTerminal && !runtime.env("NO_COLOR"),
        ...config,
        ...(format === undefined ? {} : { format }),
        write: (line: string) => shell.stderr.writeSoon(`${line}\n`),
      }, runtime);
      return {
        minSeverity,
        emit: (record) => sink.emit(record),
        log: (record) => isLogged(record) && sink.log?.(record),
        trace: (entry) => sink.trace(entry),
        flush: (report) => sink.flush(report),
      };
    },
  };
}

function oneOf<Value extends string>(values: readonly Value[], flags: Flags, name: string): Value | undefined {
  const given = flags.value(name);
  const value = values.find((one) => one === given);
  if (given === value) return value;
  throw new UsageError(`The option "--${name}" takes ${values.join(", ")}, not "${given}"`);
}
