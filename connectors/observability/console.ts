/**
 * Writes records as lines of text: JSON, or human-readable.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type {
  LogRecord,
  MeshEvent,
  NoticeRecord,
  RequestLogRecord,
  RoutingRecord,
  Severity,
  StatsRecord,
  TraceEntry,
} from "../../src/contracts/events.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import { ConfigError } from "../../src/errors.ts";
import { describeBudgetStep } from "../../src/util/budget_text.ts";
import { printable } from "../../src/util/printable.ts";
import { consoleDeclaration } from "./declarations.ts";

/**
 * Writes each record as a line. The setting `write` is a function that receives the line without its line break
 * (standard error by default); `format` is `json` (the default) or `text`, which is human-readable; `color` lists the
 * kinds of text lines to color. It never throws, and counts lines that could not be written. Records cannot inject
 * lines or terminal control sequences.
 */
export const consoleObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createConsoleSink },
  consoleDeclaration,
);

function createConsoleSink(settings: Readonly<Record<string, unknown>>): Observability {
  const { attributes } = consoleDeclaration;
  const { write = console.error, format = attributes.format.default, color = attributes.color.default } = settings;
  if (typeof write !== "function") throw createConsoleError("write", "a function", write);
  if (format !== "json" && format !== "text") throw createConsoleError("format", '"json" or "text"', format);
  if (typeof color !== "boolean") throw createConsoleError("color", "true or false", color);
  const formatColored = (record: MeshRecord | StatsRecord) => {
    if (format === "json") return printable(JSON.stringify(record));
    const text = printable(formatLine(record));
    return color ? colored(text, record) : text;
  };
  let lost = 0;
  const put = (record: MeshRecord | StatsRecord) => {
    try {
      write(formatColored(record));
    } catch {
      lost++; // neither a record that cannot be serialized nor a closed terminal may fail a request
    }
  };
  const flush: Observability["flush"] = (report) => {
    report?.records.forEach(put);
    return Promise.resolve();
  };
  return {
    get lost() {
      return lost;
    },
    emit: (record) => put(record),
    log: put,
    trace: put,
    flush,
  };
}

function createConsoleError(setting: string, allowed: string, found: unknown): ConfigError {
  const message = `"${setting}" of "mesh.console.v1" must be ${allowed}: ${JSON.stringify(found) ?? typeof found}`;
  return new ConfigError([{ path: "observability", message }]);
}

/** Any record that is written when it occurs. */
type MeshRecord = MeshEvent | RoutingRecord | LogRecord | RequestLogRecord | NoticeRecord | TraceEntry;

/** Formats a record as a human-readable line. */
function formatLine(record: MeshRecord | StatsRecord): string {
  return `${record.timestamp.slice(11, 19)} ${formatText(record)}`;
}

function formatText(record: MeshRecord | StatsRecord): string {
  switch (record.type) {
    case "event":
      return eventText(record);
    case "routing":
      return routingText(record);
    case "log":
      if ("component" in record) return `${record.level} ${record.component}: ${record.message}`;
      return "path" in record ? logText(record) : requestText(record);
    case "stats":
      return statsText(record);
    case "trace":
      return `${record.severity} ${record.component}: ${record.message}${stackText(record)}`;
  }
}

/** The frames of a stack, in one line. */
function stackText({ stack }: TraceEntry): string {
  if (typeof stack !== "string") return "";
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return frames.map((frame) => `; ${frame.trim()}`).join("");
}

function eventText({ event, pool, model, provider, from, to, reason, metadata }: MeshEvent): string {
  if (event === "budget") return `budget ${describeBudgetStep(metadata)}`;
  const subject = event === "rotation" ? "" : `${model ?? provider} `;
  const change = from === undefined && to === undefined ? "" : `${from ?? "?"} -> ${to ?? "?"} `;
  const status = metadata?.status === undefined ? "" : `, ${metadata.status}`;
  return `${event}${pool === undefined ? "" : ` ${pool}`}: ${subject}${change}(${reason}${status})`;
}

function logText({ level, method, path, status, code, client, suppressed }: LogRecord): string {
  const sender = client === undefined ? "" : ` from ${client}`;
  const others = suppressed === undefined ? "" : `, and ${suppressed} more before`;
  return `${level} refused ${method} ${path}${sender}: ${status} ${code}${others}`;
}

function routingText(record: RoutingRecord): string {
  const { pool, model, fallback_chain, routing_latency_ms, attempts } = record;
  const path = fallback_chain.map((step) => `${step.model} ${step.outcome}`).join(" -> ") || model || "nobody";
  return `routing ${pool}: ${path} (attempts ${attempts}, overhead ${routing_latency_ms.toFixed(1)} ms${
    endText(record)
  })`;
}

function endText(
  { client, status, code = "", duration_ms, tokens_in, tokens_out, cost_usd, estimated }: RoutingRecord,
): string {
  const parts = [
    status !== undefined && `${`${status} ${code}`.trimEnd()} in ${duration_ms} ms`,
    tokens_out !== undefined && `${estimated ? "about " : ""}${tokens_in ?? "?"} + ${tokens_out} tokens`,
    cost_usd !== undefined && `${cost_usd} USD`,
    client !== undefined && `for ${client}`,
  ];
  return parts.map((part) => part === false ? "" : `, ${part}`).join("");
}

function requestText(record: RequestLogRecord): string {
  const { request_id, pool, model, status, code = "", latency_ms, tokens_in, tokens_out, cost, client } = record;
  const tokens = tokens_out === null ? "" : `, ${tokens_in ?? "?"} + ${tokens_out} tokens`;
  const price = cost === null ? "" : `, ${cost} USD`;
  const sender = client === undefined ? "" : `, for ${client}`;
  const payloads = [record.request, record.response].map((text) => text === undefined ? "" : ` | ${text}`).join("");
  return `request ${request_id} ${pool}/${model ?? "none"}: ${
    `${status} ${code}`.trimEnd()
  } in ${latency_ms} ms${tokens}${price}${sender}${payloads}`;
}

function statsText(record: StatsRecord): string {
  const { scope, id, requests_total, requests_failed, latency_p95, tokens_in, tokens_out, cost_total } = record;
  const p95 = latency_p95 === null ? "" : `, p95 ${latency_p95} ms`;
  return `stats ${scope} ${id}: ${requests_total} requests, ${requests_failed} failed${p95}, ` +
    `${tokens_in} + ${tokens_out} tokens, ${cost_total} USD`;
}

const red = 31;
const green = 32;
const yellow = 33;
const cyan = 36;
const gray = 90;

const ofSeverity: Readonly<Record<Severity, number>> = {
  debug: gray,
  info: cyan,
  warning: yellow,
  error: red,
  critical: red,
};

/**
 * Adds color to a line: the time is gray, the first word is colored by severity.
 *
 * @param line A line of {@linkcode formatLine}, without control characters.
 */
function colored(line: string, record: MeshRecord | StatsRecord): string {
  const [, time = "", kind = ""] = /^(\S+) ([^\s:]+)/.exec(line) ?? [];
  const rest = line.slice(time.length + 1 + kind.length);
  return `\u001b[${gray}m${time}\u001b[0m \u001b[${selectColor(record)}m${kind}\u001b[0m${rest}`;
}

function selectColor(record: MeshRecord | StatsRecord): number {
  switch (record.type) {
    case "event":
      return record.event === "recovery" || record.to === "up" ? green : yellow;
    case "routing":
      return ofStatus(record.status ?? 200);
    case "log":
      if ("component" in record) return ofSeverity[record.level];
      return "path" in record ? yellow : ofStatus(record.status);
    case "trace":
      return ofSeverity[record.severity];
    case "stats":
      return gray;
  }
}

function ofStatus(status: number): number {
  return status < 400 ? green : status < 500 ? yellow : red;
}
