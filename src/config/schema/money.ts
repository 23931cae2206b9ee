/**
 * Amounts of money in documents.
 * @module
 */
import { nanoPerUsd } from "../../util/pricing.ts";
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
