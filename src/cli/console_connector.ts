/**
 * What a running proxy prints on standard error, with `--log-level` and `--log-format`: the console sink, and messages
 * about the process itself.
 * @module
 */
import { defaultSink } from "../config/settings/defaults.ts";
import type { Connector, PluggableConnector } from "../contracts/connector.ts";
import type { LogRecord, NoticeRecord, RequestLogRecord, Severity } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { EndSignal } from "../contracts/shell.ts";
import { loadImplementation } from "../registry/catalogue.ts";
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
  const minSeverity = readFlagChoice(severities, flags, "log-level");
  const minLevel = severities.indexOf(minSeverity ?? "debug");
  const format = readFlagChoice(formats, flags, "log-format");
  const connector = connectors.find(({ id }) => id === defaultSink) as PluggableConnector<"observability">;
  const implementation = await loadImplementation(connector);
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

/** A message about the process, such as that it listens. Further members are facts for machines. */
export interface ProcessMessage {
  readonly severity: Severity;
  readonly message: string;
  /**
   * The message for people.
   * @default the message, as a line
   */
  readonly text?: string;
  readonly [fact: string]: unknown;
}

/** Formats a message about the process, with its line breaks. */
export type ProcessFormat = (message: ProcessMessage) => string;

/** Formats messages as text. */
export const asText: ProcessFormat = ({ message, text = `${message}\n` }) => text;

/**
 * Formats messages as a JSON line each: trace records of the component `proxy`.
 *
 * @param clock Clock for timestamps.
 */
export function asJsonLines(clock: Pick<Clock, "now">): ProcessFormat {
  return ({ severity, message, text: _, ...facts }) => {
    const timestamp = new Date(clock.now()).toISOString();
    return `${JSON.stringify({ type: "trace", timestamp, severity, component: "proxy", message, ...facts })}\n`;
  };
}

/** The message after the first signal that ends the process. */
export function stopMessage(signal: EndSignal): ProcessMessage {
  const message = `${signal}: finishing responses in flight, up to 30 s; send it again to stop immediately`;
  return { severity: "info", message, signal };
}

function readFlagChoice<Value extends string>(values: readonly Value[], flags: Flags, name: string): Value | undefined {
  const input = flags.value(name);
  const value = values.find((allowed) => allowed === input);
  if (input === value) return value;
  throw new UsageError(`The option "--${name}" takes ${values.join(", ")}, not "${input}"`);
}
