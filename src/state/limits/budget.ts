/**
 * Budgets: spending against limits per window, in integer nano-dollars (10⁻⁹ USD). Sums are exact up to 2⁵³ − 1
 * nano-dollars (nine million USD) per window, and saturate there.
 * @module
 */
import { defaultAlertAt } from "../../config/settings/defaults.ts";
import type { BudgetLimit, BudgetSettings } from "../../config/settings/settings.ts";
import { dayWindow, formatUtcDay, monthWindow } from "../../util/windows.ts";
import { roundUp, type SavedWindow, type WindowSums } from "../counters/window_counter.ts";
import {
  type ReservedAmounts,
  retentionMs,
  type StepClaim,
  WindowLimit,
  type WindowLimitParts,
  WindowLimits,
} from "./window_limit.ts";

/** The windows of `daily_limit` and `monthly_limit`, which are always counted: a limit includes what was spent before. */
const utcWindows = { day: dayWindow, month: monthWindow } as const;

/** The code of other windows, imported once a configuration or a client has one. */
let others: typeof import("./budget_windows.ts") | undefined;

/** Imports the code of windows other than the UTC day and month. Budgets that have one are created afterwards. */
export async function loadBudgetWindows(): Promise<void> {
  others ??= await import("./budget_windows.ts");
}

/** A fraction of a limit that has been reached. */
export interface BudgetStep extends Pick<BudgetLimit, "window" | "timezone"> {
  /** The budget's scope: `provider <id>`, `pool <name>`, `client <name>`, `all`. */
  readonly id: string;
  /** The fraction, 0 to 1. */
  readonly step: number;
  /** Amount spent, nano-dollars. */
  readonly spent: number;
  /** The limit, nano-dollars. */
  readonly limit: number;
  /** End of the window, wall-clock ms; of a rolling one, when the oldest amount no longer counts. */
  readonly end: number;
  /** What processes that share the budget claim before they emit the event, so that one of them does. */
  readonly claim: StepClaim;
}

type OnSteps = (steps: readonly BudgetStep[]) => void;

/** A persisted {@linkcode Budget}: plain JSON. */
export interface BudgetSnapshot {
  /** UTC days, the last used one last. */
  readonly days: readonly SavedWindow[];
  /** UTC months, the last used one last. */
  readonly months: readonly SavedWindow[];
  /** Other windows; absent if there are none. */
  readonly windows?: readonly SavedLimit[];
}

/** The persisted windows of one limit. */
export interface SavedLimit {
  /** Identifies the limit, such as `1w europe/berlin`. */
  readonly window: string;
  /** Its windows, the last used one last; of a rolling limit, the slices. */
  readonly sums: readonly SavedWindow[];
}

/** One window of a budget. */
export interface BudgetWindow extends Pick<BudgetLimit, "window" | "timezone"> {
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly end: number;
}

/** A limit of a budget with its counter. */
interface CountedLimit {
  readonly id: string;
  readonly counter: WindowLimit;
  /** Undefined while it is counted without a limit. */
  settings: BudgetLimit | undefined;
}

/**
 * A budget. Times are wall-clock ms, amounts nano-dollars. A limit is exhausted when the settled amount reaches it. A
 * request is admitted when the upper bound of its cost fits beside what is settled and reserved. Its actual cost counts
 * in any case, so spending exceeds a limit at most by what requests in flight cost beyond their reservations.
 *
 * @example
 * ```ts
 * const budget = new Budget([{ id: "day", window: "day", limitNanoUsd: 5_000_000_000 }]); // 5 USD
 * const now = Date.now();
 * if (budget.resetsAt(now, 2_000_000) === undefined) {
 *   const reserved = budget.reserve(2_000_000, now);
 *   reserved.settle({ costNanoUsd: 1_250_000 });
 * }
 * ```
 */
export class Budget extends WindowLimits {
  #counted: readonly CountedLimit[] = [];
  /** Its scope: `provider <id>`, `pool <name>`, `client <id>`, `all`; empty if it has none. */
  readonly name: string;
  /** Receives steps that are reached with what other processes have spent. */
  #onLateSteps: OnSteps = () => {};

  /**
   * @param settings Its limits. {@linkcode loadBudgetWindows} is called before, if it has windows other than the UTC day
   *   and month.
   * @param name The budget's scope, for budgets that several processes share.
   * @param before The same budget under earlier limits; both share the sums of the windows that they have in common.
   */
  constructor(settings: BudgetSettings, name = "", before?: Budget) {
    super([]);
    this.name = name;
    this.#setLimits(settings, before && before.#counted);
  }

  /** Sets other limits. Settled and reserved amounts of the windows that remain count against them. */
  setLimits(settings: BudgetSettings): void {
    this.#setLimits(settings, undefined);
  }

  #setLimits(settings: BudgetSettings, before: readonly CountedLimit[] | undefined): void {
    const kept = settings.length === 0 ? this.#counted : []; // a budget that is removed may come back
    const ids = new Set([...Object.keys(utcWindows), ...[...settings, ...kept].map(({ id }) => id)]);
    this.#counted = [...ids].map((id) => {
      const limit = settings.find((limit) => limit.id === id);
      const limitNanoUsd = limit?.limitNanoUsd ?? Infinity;
      const existing = this.#counted.find((counted) => counted.id === id);
      if (existing === undefined) {
        const earlier = before?.find((counted) => counted.id === id)?.counter;
        const counter = this.#createCounter(id, { limit: limitNanoUsd, before: earlier });
        return { id, counter, settings: limit };
      }
      existing.counter.limit = limitNanoUsd;
      existing.settings = limit;
      return existing;
    });
    this.limits = this.#counted.map(({ counter }) => counter);
  }

  /** Creates the counter of a window. */
  #createCounter(id: string, { limit, before }: Pick<WindowLimitParts, "limit"> & { before: WindowLimit | undefined }) {
    const parts = { limit, before, measure: "costNanoUsd", isStrict: true, reason: "budget" } as const;
    const scope = `budget ${this.name}`;
    const counter = id !== "day" && id !== "month" ? others!.createBudgetWindow(id, scope, parts) : new WindowLimit({
      ...parts,
      windowAt: utcWindows[id],
      keyFor: ({ start }) => `${scope} ${id} ${formatUtcDay(start)}`,
      expiresAt: ({ end }) => end + retentionMs,
    });
    counter.onOthersSpent = (window, spent) => {
      counter.skipSteps(window, spent);
      const steps = this.#listStepsReached(counter, window);
      if (steps.length > 0) this.#onLateSteps(steps);
    };
    return counter;
  }

  /**
   * Reserves an amount for a request, even beyond a limit.
   *
   * @param nanoUsd Upper bound of the cost, nano-dollars.
   * @param wallTimeMs Wall-clock ms.
   * @param onSteps Called with the `alert_at` steps that are reached, each once per window: when the reservation is
   *   settled, and later when the total of all processes is known.
   */
  reserve(nanoUsd: number, wallTimeMs: number, onSteps?: OnSteps): ReservedAmounts {
    return this.reserveAmounts({ costNanoUsd: nanoUsd }, {
      wallTimeMs,
      onSettled: (reserved) => {
        if (onSteps !== undefined) this.#onLateSteps = onSteps;
        const steps = reserved.flatMap(({ limit, window }) => this.#listStepsReached(limit, window));
        if (steps.length > 0) onSteps?.(steps);
      },
    });
  }

  #listStepsReached(counter: WindowLimit, window: WindowSums): readonly BudgetStep[] {
    const counted = this.#counted.find((limit) => limit.counter === counter);
    if (counted?.settings === undefined) return [];
    const { id, settings: { alertAt = defaultAlertAt, window: span, timezone, limitNanoUsd: limit } } = counted;
    const reached = counter.takeSteps(window, alertAt);
    if (reached === undefined) return [];
    const { steps, spent, end, claim } = reached;
    return steps.map((step) => ({
      id: this.name,
      window: span,
      ...(timezone !== undefined && { timezone }),
      step,
      spent,
      limit,
      end,
      claim: { name: `budget ${this.name} ${id} ${claim.name} ${step}`, expiresAt: claim.expiresAt },
    }));
  }

  /** Whether a limit is exhausted. */
  isSpent(wallTimeMs: number): boolean {
    return this.#counted.some(({ settings, counter }) =>
      settings !== undefined && counter.isSpent(counter.totals(wallTimeMs))
    );
  }

  /**
   * Returns when an amount fits again: the start of the next window of the exhausted limit, or, of a rolling window, the
   * time when enough no longer counts; the latest one if several are exhausted.
   *
   * @param wallTimeMs Wall-clock ms.
   * @param nanoUsd The amount, nano-dollars. By default, only exhausted limits are considered.
   * @returns Wall-clock ms; undefined when the amount fits now.
   */
  resetsAt(wallTimeMs: number, nanoUsd = 0): number | undefined {
    const amount = roundUp(nanoUsd);
    let at: number | undefined;
    for (const { settings, counter } of this.#counted) {
      const end = settings === undefined ? undefined : counter.freeAt(wallTimeMs, amount);
      if (end !== undefined) at = Math.max(at ?? 0, end);
    }
    return at;
  }

  /**
   * Returns the limits, with the amounts that count against them.
   *
   * @param wallTimeMs Wall-clock ms.
   * @returns Amounts in nano-dollars; `end` in wall-clock ms.
   */
  windows(wallTimeMs: number): BudgetWindow[] {
    return this.#counted.flatMap(({ settings, counter }) => {
      if (settings === undefined) return [];
      const { window, timezone, limitNanoUsd: limit } = settings;
      const { spent, reserved, othersSpent, othersTaken, end } = counter.totals(wallTimeMs);
      const all = { spent: spent + othersSpent, reserved: reserved + Math.max(0, othersTaken - othersSpent) };
      return { window, ...(timezone !== undefined && { timezone }), limit, ...all, end };
    });
  }

  /** Returns the state to persist. */
  snapshot(): BudgetSnapshot {
    const sums = new Map(this.#counted.map(({ id, counter }) => [id, counter.snapshot()]));
    const windows = [...sums].slice(Object.keys(utcWindows).length).map(([window, sums]) => ({ window, sums }));
    return { days: sums.get("day")!, months: sums.get("month")!, ...(windows.length > 0 && { windows }) };
  }

  /**
   * Restores a persisted state. Reservations count as spent, since the process that could settle them has ended. If a
   * window is already known, the larger sum counts, so that nothing is lost or counted twice.
   *
   * A shared budget ignores it: the store has the total.
   *
   * @param snapshot The persisted state; invalid values are skipped.
   */
  restore(snapshot: BudgetSnapshot): void {
    if (this.isShared) return;
    for (const { id, counter } of this.#counted) counter.restore(findSums(snapshot, id));
  }

  /**
   * Merges what other processes have spent: adds the difference between two versions of the record. Their reservations
   * count as spent until they settle them.
   *
   * @param stored The record's current version.
   * @param base The version this process read last; undefined if it has not read it.
   */
  merge(stored: BudgetSnapshot, base?: BudgetSnapshot): void {
    if (this.isShared) return;
    for (const { id, counter } of this.#counted) counter.merge(findSums(stored, id), base && findSums(base, id));
  }
}

function findSums({ days, months, windows = [] }: BudgetSnapshot, id: string): readonly SavedWindow[] {
  if (id === "day") return days;
  return id === "month" ? months : windows.find(({ window }) => window === id)?.sums ?? [];
}
