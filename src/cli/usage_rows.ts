/**
 * Prints rows of usage.
 * @module
 */
import type { UsageDimension, UsageRow } from "../proxy/usage/usage_table.ts";
import { printable } from "../util/printable.ts";
import { table } from "./table.ts";
import { formatUsd } from "../util/price_text.ts";

/**
 * Formats rows as a table.
 *
 * @param by The columns before the amounts.
 */
export function formatUsageRows(rows: readonly UsageRow[], by: readonly UsageDimension[]): string {
  const headers = [...by.map((name) => name.toUpperCase()), "REQUESTS", "TOKENS IN", "TOKENS OUT", "COST"];
  const lines = rows.map((row) => [
    ...by.map((name) => printable(row[name] ?? "-")),
    ...[row.requests, row.tokens_in, row.tokens_out].map(String),
    formatUsd(row.cost_usd),
  ]);
  return table([headers, ...lines], [0, 1, 2, 3].map((index) => by.length + index));
}
