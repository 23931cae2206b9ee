/**
 * Money in documents: USD in nano-dollars, and the order of rows of prices.
 * @module
 */
import type { DatedPricing } from "../../contracts/provider.ts";
import {
  compareConditions,
  firstMonday,
  hasPrice,
  isWithinHours,
  nanoPerUsd,
  parseHours,
  toTier,
} from "../../util/pricing.ts";
import { dayMs } from "../../util/windows.ts";
import type { BudgetValues } from "./providers.ts";
import type { BudgetSettings } from "../settings/settings.ts";

/** USD in nano-dollars (10⁻⁹ USD), rounded. Capped at nine million USD, up to which sums are exact. */
export function toNanoUsd(usd: number): number {
  return Math.min(Math.round(usd * nanoPerUsd), Number.MAX_SAFE_INTEGER);
}

/**
 * Merges budgets limit by limit; undefined without any limit.
 *
 * @param layers Layers, highest precedence first.
 */
export function mergeBudgets(layers: readonly (BudgetValues | undefined)[]): BudgetSettings | undefined {
  const daily = layers.find((layer) => layer?.daily_limit !== undefined)?.daily_limit;
  const monthly = layers.find((layer) => layer?.monthly_limit !== undefined)?.monthly_limit;
  if (daily === undefined && monthly === undefined) return undefined;
  const alertAt = layers.find((layer) => layer?.alert_at !== undefined)?.alert_at;
  return Object.freeze({
    ...(daily === undefined ? {} : { dailyNanoUsd: toNanoUsd(daily) }),
    ...(monthly === undefined ? {} : { monthlyNanoUsd: toNanoUsd(monthly) }),
    ...(alertAt === undefined ? {} : { alertAt: [...new Set(alertAt)].toSorted((first, second) => first - second) }),
  });
}

/** A row of a list that is not valid, and why. */
interface RowProblem {
  readonly index: number;
  /** A predicate of the row. */
  readonly message: string;
}

/** Finds rows without prices, and rows that are not in order or that apply to the same calls as an earlier row. */
export function findRowProblems(rows: readonly DatedPricing[]): readonly RowProblem[] {
  return rows.flatMap((row, index) => {
    const message = hasPrice(row) ? findOrderProblem(row, rows.slice(0, index)) : "has no price";
    return message === undefined ? [] : [{ index, message }];
  });
}

function findOrderProblem(row: DatedPricing, earlier: readonly DatedPricing[]): string | undefined {
  for (const [index, before] of earlier.entries()) {
    if (toTier(before.tier) !== toTier(row.tier) || before.region !== row.region) continue;
    const order = compareConditions(row, before);
    const where = `the row at index ${index}`;
    if (order < 0) return `applies before ${where}: rows are in order of "from", then of "above_tokens"`;
    if (order > 0) continue;
    if (row.hours === undefined && before.hours !== undefined) {
      return `replaces ${where} at all hours: a row without "hours" precedes those with them`;
    }
    if (row.hours === undefined || before.hours !== undefined && isOverlapping(row.hours, before.hours)) {
      return `applies to the same calls as ${where}`;
    }
  }
}

/** Whether two ranges of hours have a minute in common. */
function isOverlapping(first: string, second: string): boolean {
  const isStartWithin = (hours: string, within: string) => {
    const { start, on } = parseHours(hours);
    return on.some((day) => isWithinHours(within, firstMonday + day * dayMs + start * 60_000));
  };
  return isStartWithin(first, second) || isStartWithin(second, first);
}
