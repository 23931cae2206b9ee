/**
 * Budgets of tests, by their limits in nano-dollars.
 * @module
 */
import type { BudgetLimit, BudgetSettings } from "../../src/config/settings/settings.ts";
import { Budget } from "../../src/state/limits/budget.ts";

/** The limits of a budget by their windows. */
export function readLimits(budget: BudgetSettings | undefined): Record<string, number> | undefined {
  return budget && Object.fromEntries(budget.map(({ id, limitNanoUsd }) => [id, limitNanoUsd]));
}

/** Creates a budget with limits per UTC day and month. */
export function createBudget(
  { daily, monthly, alertAt }: {
    readonly daily?: number;
    readonly monthly?: number;
    readonly alertAt?: readonly number[];
  },
  name?: string,
  before?: Budget,
): Budget {
  const toLimit = (id: string, limitNanoUsd: number | undefined): readonly BudgetLimit[] =>
    limitNanoUsd === undefined ? [] : [{ id, window: id, limitNanoUsd, ...(alertAt && { alertAt }) }];
  return new Budget([...toLimit("day", daily), ...toLimit("month", monthly)], name, before);
}
