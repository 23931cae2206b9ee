/**
 * Records other than routing records as rows: changes of state, refused requests, warnings.
 * @module
 */
import type { LogRecord, MeshEvent } from "../src/contracts/events.ts";
import { el } from "./dom.ts";
import { percent, span, timeOfDay, words } from "./format.ts";
import type { MeshRecord } from "./records.ts";

/** What a row shows. */
interface EventRow {
  /** The pool or the component. */
  readonly where: string;
  readonly title: string;
  readonly text: string;
  readonly tone: "good" | "warn" | "bad" | "none";
}

/** Makes a row. */
export function eventRow(record: Exclude<MeshRecord, { type: "routing" }>): HTMLElement {
  const { where, title, text, tone } = toEventRow(record);
  const chip = el("span", { class: "chip", "data-tone": tone }, title);
  const chain = el("span", { class: "chain" }, chip, el("span", { class: "muted" }, text));
  return el("div", { class: "event" }, showTime(record.timestamp), showPool(where), chain);
}

/** The time of a row. */
export function showTime(timestamp: string): HTMLElement {
  const at = Date.parse(timestamp);
  return el("time", { datetime: timestamp }, Number.isNaN(at) ? "" : timeOfDay(at));
}

/** The pool of a row, shortened where the name is long. */
export function showPool(name: string): HTMLElement {
  return el("span", { class: "where", title: name }, name);
}

function toEventRow(record: Exclude<MeshRecord, { type: "routing" }>): EventRow {
  if (record.type === "event") return partsOfEvent(record);
  if (record.type === "log" && !("message" in record)) return partsOfRefusal(record);
  return { where: record.component, title: words(findLevel(record)), text: record.message, tone: "warn" };
}

function findLevel(record: Exclude<MeshRecord, { type: "routing" | "event" } | LogRecord>): string {
  return record.type === "trace" ? record.severity : record.level;
}

function partsOfRefusal({ method, path, status, code, client, suppressed }: LogRecord): EventRow {
  const more = suppressed === undefined ? "" : `, and ${suppressed} more`;
  return {
    where: client ?? "",
    title: `refused ${status}`,
    text: `${words(code)} · ${method} ${path}${more}`,
    tone: "bad",
  };
}

function partsOfEvent({ event, pool = "", model, provider, from, to, reason, metadata }: MeshEvent): EventRow {
  const name = model ?? (provider || pool);
  const row = (title: string, tone: EventRow["tone"], text: string) => ({ where: pool, title, tone, text });
  const reasonText = words(reason);
  const waitMs = Number(metadata.standby_ms);
  switch (event) {
    case "deactivation":
      return row(name, "warn", `standby${waitMs > 0 ? ` for ${span(waitMs)}` : ""} · ${reasonText}`);
    case "recovery":
      return row(name, "good", `active again · ${reasonText}`);
    case "rotation":
      return row(`${from ?? ""} → ${to ?? ""}`, "none", `rotation · ${reasonText}`);
    case "outage": {
      const group = `the ${pool === "" ? "provider" : "pool"}`;
      return to === "up"
        ? row(name, "good", `${group} is up again`)
        : reason === "rate_limited"
        ? row(name, "warn", `${group} waits · ${reasonText}`)
        : row(name, "bad", `${group} is down · ${reasonText}`);
    }
    case "health":
      return row(name, to === "unhealthy" ? "bad" : "good", `${to ?? "health"} · ${reasonText}`);
    case "budget":
      return row(
        formatBudget(metadata),
        "warn",
        `${percent(Number(metadata.step))} of the limit of ${formatWindow(metadata)}`,
      );
    default:
      return row(name, "none", `${event} · ${reasonText}`);
  }
}

const spans: Readonly<Record<string, string>> = { "1h": "hour", "1d": "day", "1w": "week", "1mo": "month" };

function formatWindow({ window, timezone }: MeshEvent["metadata"]): string {
  const name = String(window);
  if (name.startsWith("rolling")) return name.replace("rolling", "the last");
  return `this ${spans[name] ?? name}${timezone === undefined ? "" : ` (${timezone})`}`;
}

function formatBudget({ scope, id }: MeshEvent["metadata"]): string {
  return id === "" || id === undefined ? "budget" : `budget of ${scope} ${id}`;
}
