/**
 * Groups usage by dimensions, as JSON rows or CSV.
 * @module
 */
import { stripTrailing } from "../../util/strip_trailing.ts";
import type { DatedUsage } from "./daily_usage.ts";

/** A dimension by which usage is grouped. */
export type UsageDimension = "day" | "client" | "team" | "pool" | "model" | "tag";

/** All dimensions. */
export const usageDimensions: readonly UsageDimension[] = ["day", "client", "team", "pool", "model", "tag"];

/** Sums of one group. A dimension without a value, such as requests without a client's name, is null. */
export interface UsageRow extends Readonly<Partial<Record<UsageDimension, string | null>>> {
  readonly requests: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_usd: number;
  /** Cost that callers have paid with their own keys; absent if there is none. */
  readonly byok_cost_usd?: number;
}

const amountNames = ["requests", "tokens_in", "tokens_out", "cost_usd"] as const;

/**
 * Sums rows by dimensions. A request with several tags counts for each of them.
 *
 * @param rows The rows of days.
 * @param by The dimensions, in order of the columns; at least one.
 * @returns In order of their first rows.
 */
export function groupUsage(rows: readonly DatedUsage[], by: readonly UsageDimension[]): readonly UsageRow[] {
  const groups = new Map<string, { readonly values: readonly (string | null)[]; readonly sums: number[] }>();
  for (const row of rows) {
    const { tags = [] } = row;
    for (const tag of by.includes("tag") && tags.length > 0 ? tags : [null]) {
      const values = by.map((dimension) => dimension === "tag" ? tag : row[dimension] ?? null);
      const name = JSON.stringify(values);
      const group = groups.get(name) ?? { values, sums: [0, 0, 0, 0] };
      groups.set(name, group);
      for (const [index, amount = 0] of row.amounts.entries()) group.sums[index] = (group.sums[index] ?? 0) + amount;
    }
  }
  return [...groups.values()].map((
    { values, sums: [requests = 0, tokens_in = 0, tokens_out = 0, costNanoUsd = 0, callerCostNanoUsd] },
  ) => ({
    ...Object.fromEntries(by.map((dimension, index) => [dimension, values[index]!])),
    requests,
    tokens_in,
    tokens_out,
    cost_usd: costNanoUsd / 1e9,
    ...(callerCostNanoUsd === undefined ? {} : { byok_cost_usd: callerCostNanoUsd / 1e9 }),
  }));
}

/** Sorts rows by their dimensions, in order of the columns; null is last. */
export function sortUsage(rows: readonly UsageRow[], by: readonly UsageDimension[]): readonly UsageRow[] {
  const read = (row: UsageRow) => by.map((dimension) => row[dimension] ?? null);
  return rows.toSorted((first, second) => compareValues(read(first), read(second)));
}

/**
 * Formats rows as CSV (RFC 4180).
 *
 * @param by The columns before the amounts.
 */
export function formatUsageCsv(rows: readonly UsageRow[], by: readonly UsageDimension[]): string {
  const hasByok = rows.some((row) => row.byok_cost_usd !== undefined);
  const heads = [...by, ...amountNames, ...(hasByok ? ["byok_cost_usd"] as const : [])];
  const lines = [heads, ...rows.map((row) => heads.map((head) => formatCell(row[head] ?? "")))];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

function formatCell(value: string | number): string {
  const text = typeof value === "number" ? formatAmount(value) : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A number without an exponent, down to one nano-dollar. */
function formatAmount(value: number): string {
  return Number.isInteger(value) ? String(value) : stripTrailing(value.toFixed(9), "0");
}

function compareValues(first: readonly (string | null)[], second: readonly (string | null)[]): number {
  const index = first.findIndex((value, at) => value !== second[at]);
  if (index < 0) return 0;
  const [left, right] = [first[index]!, second[index]!];
  if (left === null || right === null) return left === null ? 1 : -1;
  return left < right ? -1 : 1;
}
