/**
 * Formats the status of a proxy as text.
 * @module
 */
import type { MeshEvent, RoutingRecord } from "../contracts/events.ts";
import type { ModelStatus, PoolStatus } from "../registry/status.ts";
import { groupBy } from "../util/entries.ts";
import { describeBudgetStep } from "../util/budget_text.ts";
import { printable } from "../util/printable.ts";
import { counted, type Paint, table } from "./table.ts";
import { formatUsd } from "../util/price_text.ts";

/** Response body of `GET /mesh/status`. */
export interface ProxyStatus {
  readonly version: string;
  readonly uptime_seconds: number;
  readonly pools: Readonly<Record<string, PoolStatus>>;
  readonly providers: readonly {
    readonly id: string;
    readonly status: string;
    readonly last_error?: { readonly kind: string; readonly status?: number; readonly at: string };
  }[];
  readonly budgets: readonly {
    readonly scope: string;
    readonly id: string;
    readonly name?: string;
    readonly window: string;
    readonly timezone?: string;
    readonly spent_usd: number;
    readonly limit_usd: number;
    readonly resets_at: string;
  }[];
  readonly clients?: readonly {
    readonly name: string;
    readonly requests: number;
    readonly tokens_in: number;
    readonly tokens_out: number;
    readonly cost_usd: number;
  }[];
  readonly in_flight: number;
}

/** A routing record or an event. */
export type RecentRecord = RoutingRecord | MeshEvent;

interface Drawing {
  readonly paint: Paint;
  readonly url: string;
  /** Wall-clock ms. */
  readonly now: number;
}

/** Returns the status as text. */
export function statusText(
  status: ProxyStatus & { readonly recent: readonly RecentRecord[] },
  drawing: Drawing,
): string {
  const { version, uptime_seconds, in_flight, recent } = status;
  const { paint, url, now } = drawing;
  const up = formatAge(uptime_seconds * 1000);
  const head = `${paint.strong(`ModelMesh ${printable(version)}`)} at ${url}, up ${up}, ${
    counted(in_flight, "request")
  } in flight\n`;
  const decisions = recent.map((record) => `  ${record.timestamp.slice(11, 19)} ${printable(formatRecord(record))}\n`)
    .join(
      "",
    );
  const sections: readonly (readonly [title: string, text: string])[] = [
    ["Pools", poolsText(status, drawing)],
    ["Providers whose last call failed", providersText(status, drawing)],
    ["Budgets", budgetsText(status, now)],
    ["Clients", clientsText(status)],
    ["Last decisions (UTC)", decisions],
  ];
  return head + sections.flatMap(([title, text]) => text === "" ? [] : `\n${paint.strong(title)}\n${text}`).join("");
}

function providersText({ providers }: ProxyStatus, { now }: Drawing): string {
  const rows = providers.flatMap(({ id, last_error: error }) => {
    if (error === undefined) return [];
    const { kind, status, at } = error;
    return [[printable(id), printable(kind), String(status ?? ""), `${formatAge(now - Date.parse(at))} ago`]];
  });
  return rows.length === 0 ? "" : table(rows);
}

/** Pools with the same models in the same states are one entry, and a model in the same state is named once. */
function poolsText({ pools }: ProxyStatus, { paint, now }: Drawing): string {
  const all = Object.entries(pools);
  const width = Math.max(0, ...all.flatMap(([, { models }]) => models.map(({ name }) => printable(name).length)));
  const shown = new Set<string>();
  return [...groupBy(all, ([, pool]) => JSON.stringify({ ...pool, capability: "" })).values()].map((group) => {
    const { status, strategy, active, total, models } = group[0]![1];
    const names = group.map(([name]) => paint.strong(printable(name))).join(", ");
    const state = status === "ok" ? paint.good("ok") : paint.bad(status);
    const counts = `${active} of ${counted(total, "model")} active`;
    const rows = models.map((model) => `    ${modelText(model, { paint, now, width })}\n`);
    const further = rows.filter((row) => !shown.has(row));
    for (const row of rows) shown.add(row);
    const others = rows.length - further.length;
    return `  ${names}  ${state}  ${counts}  ${paint.dim(printable(strategy))}\n${further.join("")}` +
      (others === 0 ? "" : `    ${paint.dim(`${counted(others, "model")} as above`)}\n`);
  }).join("");
}

function modelText(
  { name, provider, status, reason, retryAt }: ModelStatus,
  { paint, now, width }: Pick<Drawing, "paint" | "now"> & { readonly width: number },
): string {
  const label = printable(name).padEnd(width);
  if (status === "active") return `${label}  ${paint.good("active ")}  ${paint.dim(printable(provider))}`;
  const recovery = retryAt === undefined
    ? "until it is activated"
    : `back in ${formatAge(Math.max(0, Date.parse(retryAt) - now))} (${retryAt.slice(0, 19).replace("T", " ")} UTC)`;
  return `${label}  ${paint.bad("standby")}  ${printable(provider)}: ${printable(reason ?? "?")}, ${
    printable(recovery)
  }`;
}

function budgetsText({ budgets }: ProxyStatus, now: number): string {
  if (budgets.length === 0) return "";
  const rows = budgets.map(({ scope, id, name = id, window, timezone, spent_usd, limit_usd, resets_at }) => [
    `  ${scope}${id === "" ? "" : ` ${name}`}`,
    timezone === undefined ? window : `${window} ${timezone}`,
    formatUsd(spent_usd),
    formatUsd(limit_usd),
    limit_usd === 0 ? "100 %" : `${Math.floor(spent_usd / limit_usd * 100)} %`,
    `in ${formatAge(Date.parse(resets_at) - now)}`,
  ]);
  return table([["  WHOSE", "WINDOW", "SPENT", "LIMIT", "USED", "RESETS"], ...rows], [2, 3, 4]);
}

function clientsText({ clients = [] }: ProxyStatus): string {
  if (clients.length === 0) return "";
  const rows = clients.map(({ name, requests, tokens_in, tokens_out, cost_usd }) => [
    `  ${name}`,
    ...[requests, tokens_in, tokens_out].map(String),
    formatUsd(cost_usd),
  ]);
  return table([["  NAME", "REQUESTS", "TOKENS IN", "TOKENS OUT", "SPENT"], ...rows], [1, 2, 3, 4]);
}

function formatRecord(record: RecentRecord): string {
  if (record.type === "event") {
    const { event, pool, model, provider, from, to, reason, metadata } = record;
    if (event === "budget") return `budget ${describeBudgetStep(metadata)}`;
    const change = from === undefined && to === undefined ? [] : [`${from ?? "?"} -> ${to ?? "?"}`];
    const subject = event === "rotation" ? [] : [model ?? provider]; // the change names the models
    return `${event}${pool === undefined ? "" : ` ${pool}`}: ${[...subject, ...change].join(" ")} (${reason})`;
  }
  const { pool, model, fallback_chain, status, duration_ms, cost_usd, client } = record;
  const path = fallback_chain.map((step) => `${step.model} ${step.outcome}`).join(" -> ") || (model ?? "no model");
  const facts = [
    status === undefined ? [] : String(status),
    duration_ms === undefined ? [] : `${duration_ms} ms`,
    cost_usd === undefined ? [] : formatUsd(cost_usd),
    client === undefined ? [] : `by ${client}`,
  ].flat();
  return `${pool}: ${path}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

/** Formats a duration by its two largest units. */
function formatAge(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const units: readonly (readonly [string, number])[] = [["d", 86_400], ["h", 3_600], ["m", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0s";
  let left = seconds;
  return units.slice(first, first + 2).flatMap(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : `${count}${unit}`;
  }).join(" ");
}
