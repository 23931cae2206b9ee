/**
 * A routing record as a row, which opens to its attempts.
 * @module
 */
import type { RoutingRecord } from "../src/contracts/events.ts";
import { showAttempts, showCached, showChain, showFacts } from "./attempts.ts";
import { el } from "./dom.ts";
import { showPool, showTime } from "./event_row.ts";
import { count, duration, usd, words } from "./format.ts";
import { isFailed } from "./records.ts";

/** Makes a row. */
export function decisionRow(record: RoutingRecord): HTMLElement {
  const { pool, client, fallback_chain: chain, status, duration_ms, ttft_ms, tokens_in, tokens_out } = record;
  const tokens = (tokens_in ?? 0) + (tokens_out ?? 0);
  const facts = el(
    "span",
    { class: "facts" },
    el("span", { title: "Latency" }, duration(duration_ms)),
    el("span", { title: "Time to first token" }, ttft_ms === undefined ? "" : `ttft ${duration(ttft_ms)}`),
    el("span", { title: "Tokens" }, tokens === 0 ? "" : `${count(tokens)} tok`),
    el("span", { title: "Cost" }, record.cost_usd === undefined ? "" : usd(record.cost_usd)),
  );
  const where = showPool(client === undefined ? pool : `${pool} · ${client}`);
  const models = record.cached
    ? showCached(record.model ?? "")
    : showChain(chain, isFailed(record) ? status : undefined);
  const row = el("details", {}, el("summary", {}, showTime(record.timestamp), where, models, facts));
  const fill = () => row.open && row.children.length === 1 && row.append(showDetails(record));
  row.addEventListener("toggle", fill); // most rows are never opened
  return row;
}

function showDetails(record: RoutingRecord): HTMLElement {
  const { replaced_provider: replaced, rotation_reason: reason = "", ttft_ms, tokens_in, tokens_out, cost_usd } =
    record;
  const facts = showFacts({
    "Request": record.request_id,
    "Delivery": record.delivery,
    "Status": record.status?.toString(),
    "Error": record.code && words(record.code),
    "Attempts": String(record.attempts),
    "Failed over from": replaced && `${replaced}: ${words(reason)}`,
    "Duration": duration(record.duration_ms),
    "First token": ttft_ms === undefined ? undefined : duration(ttft_ms),
    "Overhead": duration(record.routing_latency_ms),
    "Tokens in": tokens_in === undefined ? undefined : count(tokens_in),
    "Tokens out": tokens_out === undefined ? undefined : count(tokens_out),
    "Cost": cost_usd === undefined ? undefined : usd(cost_usd) + (record.estimated ? ", estimated" : ""),
    "Saved": record.saved_usd === undefined ? undefined : usd(record.saved_usd),
    "Capability": record.capability ?? undefined,
    "Client": record.client,
    "Trace": record.traceparent,
  });
  const raw = el("details", {}, el("summary", {}, "Record as JSON"), el("pre", {}, JSON.stringify(record, null, 2)));
  return el("div", { class: "more" }, showAttempts(record.fallback_chain), facts, raw);
}
