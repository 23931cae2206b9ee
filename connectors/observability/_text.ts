/**
 * Formats records as human-readable lines.
 * @module
 */
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

/** Any record that is written when it occurs. */
export type MeshRecord = MeshEvent | RoutingRecord | LogRecord | RequestLogRecord | NoticeRecord | TraceEntry;

/** Formats a record as a human-readable line. */
export function formatLine(record: MeshRecord | StatsRecord): string {
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
export function colored(line: string, record: MeshRecord | StatsRecord): string {
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
