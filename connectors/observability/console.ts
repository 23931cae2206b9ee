/**
 * Records as lines of text.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { LogRecord, MeshEvent, RoutingRecord, TraceEntry } from "../../src/contracts/events.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import { ConfigError } from "../../src/errors.ts";
import { consoleDeclaration } from "./declarations.ts";

type MeshRecord = MeshEvent | RoutingRecord | LogRecord | TraceEntry;

/** What a terminal or a reader of lines would act on: control characters, line ends, changes of direction. */
// deno-lint-ignore no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Writes each record as a line: the setting `write` is a function that is given the line without its end (standard
 * error by default), `format` is `json` (the default) or `text`, for people. It never throws, and no record can
 * break out of its line or steer the terminal.
 */
export const consoleObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create },
  consoleDeclaration,
);

function create({ write = console.error, format = "json" }: Readonly<Record<string, unknown>>): Observability {
  if (typeof write !== "function") throw problem("write", "a function", write);
  if (format !== "json" && format !== "text") throw problem("format", '"json" or "text"', format);
  const put = (record: MeshRecord) => {
    try {
      write((format === "json" ? JSON.stringify(record) : textOf(record)).replace(unprintable, escaped));
    } catch {
      // neither a record that cannot be written down nor a closed terminal is the request's concern
    }
  };
  return { emit: put, log: put, trace: put, flush: () => Promise.resolve() };
}

function problem(setting: string, allowed: string, found: unknown): ConfigError {
  const message = `"${setting}" of "mesh.console.v1" must be ${allowed}: ${JSON.stringify(found) ?? typeof found}`;
  return new ConfigError([{ path: "observability", message }]);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function textOf(record: MeshRecord): string {
  return `${record.timestamp.slice(11, 19)} ${messageOf(record)}`;
}

function messageOf(record: MeshRecord): string {
  switch (record.type) {
    case "event":
      return eventText(record);
    case "routing":
      return routingText(record);
    case "log":
      return logText(record);
    case "trace":
      return `${record.severity} ${record.component}: ${record.message}`;
  }
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
  const road = fallback_chain.map((step) => `${step.model} ${step.outcome}`).join(" -> ") || model || "nobody";
  return `routing ${pool}: ${road} (attempts ${attempts}, overhead ${routing_latency_ms.toFixed(1)} ms${
    endText(record)
  })`;
}

function endText({ client, status, duration_ms, tokens_in, tokens_out, cost_usd, estimated }: RoutingRecord): string {
  const parts = [
    status !== undefined && `${status} in ${duration_ms} ms`,
    tokens_out !== undefined && `${estimated ? "about " : ""}${tokens_in ?? "?"} + ${tokens_out} tokens`,
    cost_usd !== undefined && `${cost_usd} USD`,
    client !== undefined && `for ${client}`,
  ];
  return parts.map((part) => part === false ? "" : `, ${part}`).join("");
}
