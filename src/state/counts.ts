/**
 * What was used of limits and budgets, as plain JSON: what outlives the process, and what others add to it meanwhile.
 * @module
 */
import { MeshError } from "../errors.ts";
import type { BudgetSnapshot } from "./ledger.ts";
import type { RestOwner } from "./rest.ts";
import type { MeshSnapshot } from "./snapshot.ts";

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
export interface SavedUsage extends UsageCounts, Required<RestOwner> {}

/** What was spent of a budget, as it is written down. */
export interface SavedSpending extends BudgetSnapshot {
  /** Whose: `provider <id>`, `pool <name>`, `all`. */
  readonly budget: string;
}

/** All that a mesh remembers that counts. */
export interface CountedSnapshot extends MeshSnapshot {
  /** Limits in use. */
  readonly usage?: readonly SavedUsage[];
  /** Budgets in use. */
  readonly spending?: readonly SavedSpending[];
}

/**
 * Checks the counts of a snapshot that comes from outside.
 *
 * @param snapshot Its other members are checked already.
 * @throws {MeshError} `invalid_state`, naming the member that does not fit.
 */
export function checkCounts(snapshot: MeshSnapshot): CountedSnapshot {
  const { usage = [], spending = [] } = snapshot as { usage?: unknown; spending?: unknown };
  checkEach(usage, "usage", ({ pool, model, provider, requests, tokens, nano, window_end = 0 }) => {
    const names = [pool, model, provider].every((name) => typeof name === "string");
    return names && [requests, tokens, nano, window_end].every(isAmount);
  });
  checkEach(spending, "spending", ({ budget, days, months }) => {
    return typeof budget === "string" && isWindows(days) && isWindows(months);
  });
  return snapshot;
}

type Members = Readonly<Record<string, unknown>>;

function checkEach(list: unknown, at: string, fits: (entry: Members) => boolean): void {
  const entries: readonly unknown[] = Array.isArray(list) ? list : [undefined];
  const wrong = entries.findIndex((entry) => typeof entry !== "object" || entry === null || !fits(entry as Members));
  if (wrong < 0) return;
  throw new MeshError(
    `Cannot take up the saved state: ${at}[${wrong}] is not what this release writes. It is damaged, or of another release`,
    { code: "invalid_state" },
  );
}

function isWindows(value: unknown): boolean {
  return Array.isArray(value) && value.every((window) => {
    const { start, spent, held } = Object(window);
    return Number.isSafeInteger(start) && isAmount(spent) && isAmount(held);
  });
}

function isAmount(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
