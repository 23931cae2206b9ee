/**
 * Budgets of clients on the command line.
 * @module
 */
import { MeshError } from "../errors.ts";
import { type Flags, UsageError } from "./command.ts";
import { printable } from "../util/printable.ts";
import { formatUsd } from "../util/price_text.ts";

/** A limit with its window, USD. */
interface ListedLimit {
  readonly limit: number;
  readonly window: string;
  readonly timezone?: string;
}

/** A budget, as the proxy returns it: limits per UTC day and month, or with their windows; USD. */
export type ClientBudget = {
  readonly daily_limit?: number;
  readonly monthly_limit?: number;
} | readonly ListedLimit[];

/** A change of a budget: the whole list, or limits of which null removes one. */
export type BudgetChange = readonly ListedLimit[] | Readonly<Record<string, number | null>> | null;

/** Options that set budgets. */
export const budgetOptions = ["daily-limit", "monthly-limit", "budget"] as const;

/**
 * Reads the options.
 *
 * @returns Undefined without any.
 * @throws {UsageError} If they are malformed, or both forms are mixed.
 */
export function parseBudget(flags: Flags): BudgetChange | undefined {
  const list = flags.all("budget");
  const utc = (["daily-limit", "monthly-limit"] as const).filter((option) => flags.value(option) !== undefined);
  if (list.length > 0 && utc.length > 0) {
    throw new UsageError(`"--budget" cannot be combined with "--${utc[0]}": write the limit per UTC day as 5/1d`);
  }
  if (list.length > 0) return list.join() === "none" ? null : list.map(parseLimit);
  if (utc.length === 0) return undefined;
  return Object.fromEntries(utc.map((option) => [option.replace("-", "_"), parseAmount(option, flags.value(option)!)]));
}

function parseAmount(option: string, text: string): number | null {
  if (text === "none") return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new UsageError(`The option "--${option}" takes an amount in USD, or "none", not "${text}"`);
}

function parseLimit(text: string): ListedLimit {
  const [, limit, window = "", timezone] = /^(\d+(?:\.\d+)?)\/([^@]+)(?:@(.+))?$/.exec(text) ?? [];
  if (limit === undefined) {
    const example = "5/1d, 20/1w@Europe/Berlin or 30/rolling 30d";
    throw new UsageError(`The option "--budget" takes USD and a window, such as ${example}, or "none", not "${text}"`);
  }
  return { limit: Number(limit), window, ...(timezone !== undefined && { timezone }) };
}

/**
 * Merges limits per day and month into a budget. The other limit is kept; a budget without limits is removed.
 *
 * @throws {MeshError} If the budget is a list.
 */
export function mergeBudget(before: ClientBudget | undefined, change: BudgetChange): BudgetChange {
  if (change === null || isList(change)) return change;
  if (before !== undefined && isList(before)) {
    throw new MeshError("The client has a list of limits: replace it with --budget, or remove it with --budget none");
  }
  const merged = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  return merged.length === 0 ? null : Object.fromEntries(merged);
}

/** Describes a list of limits; `-` for other budgets. */
export function formatLimitList(budget: ClientBudget | undefined): string {
  if (budget === undefined || !isList(budget)) return "-";
  return budget.map(({ limit, window, timezone }) => {
    return `${formatUsd(limit)} ${printable(window)}${timezone === undefined ? "" : ` ${printable(timezone)}`}`;
  }).join(", ");
}

/** Describes the limits per UTC day and month of a budget. */
export function formatUtcLimits(budget: ClientBudget | undefined): readonly [daily: string, monthly: string] {
  const { daily_limit, monthly_limit } = budget === undefined || isList(budget) ? {} : budget;
  const format = (amount: number | undefined) => amount === undefined ? "-" : formatUsd(amount);
  return [format(daily_limit), format(monthly_limit)];
}

function isList<Other>(budget: Other | readonly ListedLimit[]): budget is readonly ListedLimit[] {
  return Array.isArray(budget);
}
