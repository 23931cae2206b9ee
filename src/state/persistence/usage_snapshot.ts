/**
 * What was used of limits and budgets, as plain JSON: what outlives the process, and what others add to it meanwhile.
 * @module
 */
import type { BudgetSnapshot, SavedWindow } from "../limits/budget.ts";
import type { BreakerOwner } from "../breaker/circuit_breaker.ts";
import { entryReader, type Members, type MeshSnapshot, type ReadSnapshot, readSnapshot } from "./snapshot.ts";

/** What was used of the limits of a model in a pool. */
export interface UsageCounts {
  /** Requests. */
  readonly requests: number;
  /** Tokens. */
  readonly tokens: number;
  /** Nano-dollars. */
  readonly nano: number;
  /** When the window ends they were counted in: wall clock, ms; left out when they count between two rests. */
  readonly window_end?: number;
}

/** The same, as it is written down. */
export interface SavedUsage extends UsageCounts, Required<BreakerOwner> {}

/** What was spent of a budget, as it is written down. */
export interface SavedSpending extends BudgetSnapshot {
  /** Whose: `provider <id>`, `pool <name>`, `all`. */
  readonly budget: string;
}

/** All that a mesh remembers that counts. */
export interface UsageSnapshot extends MeshSnapshot {
  /** Limits in use. */
  readonly usage?: readonly SavedUsage[];
  /** Budgets in use. */
  readonly spending?: readonly SavedSpending[];
}

/**
 * Reads a snapshot with its counts, which comes from outside. An entry that does not fit is left out alone, as is a
 * window of a budget.
 *
 * @param value What was parsed.
 * @throws {MeshError} `invalid_state` when it is no snapshot, or one of another version.
 */
export function readUsageSnapshot(value: unknown): ReadSnapshot<UsageSnapshot> {
  const { snapshot, leftOut: ofStates } = readSnapshot(value);
  const { usage = [], spending = [] } = snapshot as { usage?: unknown; spending?: unknown };
  const leftOut = [...ofStates];
  const read = entryReader(leftOut);
  const limits = read<SavedUsage>(usage, "usage", wrongInUsage);
  const budgets = read<SavedSpending>(spending, "spending", ({ budget }) => isText(budget) ? undefined : "budget");
  const windows = (list: unknown, at: string) => read<SavedWindow>(list, at, wrongInWindow);
  return {
    snapshot: {
      ...snapshot,
      usage: limits,
      spending: budgets.map(({ days, months, ...rest }) => {
        const at = `spending "${rest.budget}"`;
        return { ...rest, days: windows(days, `${at} days`), months: windows(months, `${at} months`) };
      }),
    },
    leftOut,
  };
}

function wrongInUsage({ window_end = 0, ...entry }: Members): string | undefined {
  return ["pool", "model", "provider"].find((name) => !isText(entry[name])) ??
    ["requests", "tokens", "nano"].find((name) => !isAmount(entry[name])) ??
    (isAmount(window_end) ? undefined : "window_end");
}

function wrongInWindow({ start, ...entry }: Members): string | undefined {
  return Number.isSafeInteger(start) ? ["spent", "reserved"].find((name) => !isAmount(entry[name])) : "start";
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isAmount(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
