/**
 * A record as a row of the stream.
 * @module
 */
import type { FallbackStep, MeshEvent, RoutingRecord } from "../src/contracts/events.ts";
import { el, setSpan } from "./dom.ts";
import { count, duration, span, timeOfDay, usd, words } from "./format.ts";
import { isFailed, type MeshRecord } from "./records.ts";

/** Makes a row: a request's can be opened. */
export function rowOf(record: MeshRecord): HTMLElement {
  if (record.type === "routing") return decision(record);
  const time = timeOf(record.timestamp);
  if (record.type === "event") return el("div", { class: "event" }, time, eventText(record), el("span"));
  if (record.type === "trace") return note(time, { tone: "warn", title: record.component, text: record.message });
  if ("message" in record) return note(time, { tone: "warn", title: record.component, text: record.message });
  const { method, path, status, code, client, suppressed } = record;
  const more = suppressed === undefined ? "" : ` (and ${suppressed} more)`;
  const text = `${method} ${path}${client === undefined ? "" : ` of ${client}`}${more}`;
  return note(time, { tone: "bad", title: `refused ${status} ${words(code)}`, text });
}

/** The way of a request over its models. */
export function chainOf(steps: readonly FallbackStep[], status?: number): HTMLElement {
  const chips = steps.flatMap((step, index) => {
    const chip = stepChip(step);
    return index === 0 ? [chip] : [el("span", { class: "arrow", "aria-label": "then" }, "→"), chip];
  });
  const missing = el("span", { class: "chip", "data-tone": "bad" }, "no model asked");
  return el(
    "span",
    { class: "chain" },
    ...(steps.length === 0 ? [missing] : chips),
    ...(status ? [String(status)] : []),
  );
}

function stepChip({ model, outcome, status }: FallbackStep): HTMLElement {
  if (outcome === "ok") return el("span", { class: "chip" }, model);
  const why = `${words(outcome)}${status === undefined ? "" : ` ${status}`}`;
  return el("span", { class: "chip", "data-tone": "bad" }, model, el("small", {}, why));
}

function decision(record: RoutingRecord): HTMLElement {
  const { pool, client, fallback_chain: chain, status, duration_ms, ttft_ms, tokens_in, tokens_out } = record;
  const way = chainOf(chain, isFailed(record) ? status : undefined);
  way.prepend(el("span", { class: "pool" }, client === undefined ? pool : `${pool} · ${client}`));
  const tokens = (tokens_in ?? 0) + (tokens_out ?? 0);
  const facts = el(
    "span",
    { class: "facts" },
    el("span", { title: "Duration" }, duration(duration_ms)),
    el("span", { title: "Time to first token" }, ttft_ms === undefined ? "" : `1st ${duration(ttft_ms)}`),
    el("span", { title: "Tokens" }, tokens === 0 ? "" : `${count(tokens)} tok`),
    el("span", { title: "Cost" }, record.cost_usd === undefined ? "" : usd(record.cost_usd)),
  );
  const row = el("details", {}, el("summary", {}, timeOf(record.timestamp), way, facts));
  const fill = () => row.open && row.children.length === 1 && row.append(detailsOf(record));
  row.addEventListener("toggle", fill); // most rows are never opened
  return row;
}

function detailsOf(record: RoutingRecord): HTMLElement {
  const { request_id, delivery, attempts, routing_latency_ms, duration_ms, ttft_ms, tokens_in, tokens_out } = record;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Request", request_id],
    ["Delivery", delivery],
    ["Status", record.status === undefined ? undefined : String(record.status)],
    ["Upstream calls", String(attempts)],
    ["Left", record.replaced_provider && `${record.replaced_provider}: ${words(record.rotation_reason ?? "")}`],
    ["Duration", duration(duration_ms)],
    ["First token", ttft_ms === undefined ? undefined : duration(ttft_ms)],
    ["Overhead of the proxy", duration(routing_latency_ms)],
    ["Tokens in", tokens_in === undefined ? undefined : count(tokens_in)],
    ["Tokens out", tokens_out === undefined ? undefined : count(tokens_out)],
    [
      "Cost",
      record.cost_usd === undefined ? undefined : usd(record.cost_usd) + (record.estimated ? ", estimated" : ""),
    ],
    ["Capability", record.capability ?? undefined],
    ["Client", record.client],
    ["Trace", record.traceparent],
  ];
  const list = facts.flatMap(([name, value]) => value ? [el("div", {}, el("dt", {}, name), el("dd", {}, value))] : []);
  const raw = el("details", {}, el("summary", {}, "Record as JSON"), el("pre", {}, JSON.stringify(record, null, 2)));
  return el("div", { class: "more" }, attemptsOf(record), el("dl", {}, ...list), raw);
}

/** The models that were asked, one after the other, and how long each took. */
function attemptsOf({ fallback_chain: chain }: RoutingRecord): HTMLElement {
  const whole = Math.max(1, chain.reduce((sum, { ms }) => sum + ms, 0));
  let start = 0;
  const rows = chain.map(({ model, provider, outcome, status, ms }) => {
    const bar = el("i", outcome === "ok" ? {} : { "data-tone": "bad" });
    setSpan(bar, { start: start / whole, share: ms / whole });
    start += ms;
    const what = `${words(outcome)}${status === undefined ? "" : ` ${status}`}`;
    return el(
      "li",
      {},
      el("span", {}, `${model} (${provider})`),
      el("span", { class: outcome === "ok" ? "" : "problem" }, what),
      el("span", { class: "lane" }, bar),
      el("span", { class: "ms" }, duration(ms)),
    );
  });
  return el("ol", { class: "attempts", "aria-label": "Attempts" }, ...rows);
}

function eventText({ event, pool, model, provider, from, to, reason, metadata }: MeshEvent): HTMLElement {
  const tone = {
    deactivation: "warn",
    recovery: "",
    rotation: "none",
    health: "none",
    budget: "warn",
    outage: "bad",
    batch: "none",
  }[event];
  const waitMs = Number(metadata.standby_ms);
  const title = event === "rotation" ? `${from ?? ""} → ${to ?? ""}` : model ?? (provider || pool || "");
  const states: Record<string, string> = {
    deactivation: `in standby${waitMs > 0 ? ` for ${span(waitMs)}` : ""}`,
    recovery: "active again",
    rotation: "current model",
    outage: `${pool === undefined ? "provider" : "pool"} ${to === "up" ? "is up again" : "is down"}`,
  };
  const text = [states[event] ?? event, words(reason), pool].filter(Boolean).join(" · ");
  return el(
    "span",
    { class: "chain" },
    el("span", { class: "chip", "data-tone": event === "outage" && to === "up" ? "" : tone }, title),
    el("span", { class: "muted" }, text),
  );
}

function note(time: HTMLElement, { tone, title, text }: { tone: string; title: string; text: string }): HTMLElement {
  const chip = el("span", { class: "chip", "data-tone": tone }, title);
  const chain = el("span", { class: "chain" }, chip, el("span", { class: "muted" }, text));
  return el("div", { class: "event" }, time, chain, el("span"));
}

function timeOf(timestamp: string): HTMLElement {
  const at = Date.parse(timestamp);
  return el("time", { datetime: timestamp }, Number.isNaN(at) ? "" : timeOfDay(at));
}
