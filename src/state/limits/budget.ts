/**
 * Budgets: spending against daily and monthly limits, in integer nano-dollars (10⁻⁹ USD). Sums are exact up to 2⁵³ − 1
 * nano-dollars (nine million USD) per window, and saturate there.
 * @module
 */
import { defaultAlertAt } from "../../config/settings/defaults.ts";
import { dayWindow, formatUtcDay, monthWindow } from "../../util/windows.ts";
import { roundUp, type SavedWindow, sum } from "../counters/window_counter.ts";
import { type ReservedAmount, type ReservedAmounts, WindowLimit, WindowLimits } from "./window_limit.ts";

/** How long the sums of an ended window are kept, for requests that straddle windows, ms. */
const retentionMs = 86_400_000;

/** Limits of a budget, nano-dollars; unlimited where undefined. */
interface BudgetLimits {
  /** Per UTC calendar day. */
  readonly daily?: number;
  /** Per UTC calendar month. */
  readonly monthly?: number;
  /** Fractions of a limit that are reported when they are reached, ascending. */
  readonly alertAt?: readonly number[];
}

/** A fraction of a limit that has been reached. */
export interface BudgetStep {
  /** The budget's scope: `provider <id>`, `pool <name>`, `client <name>`, `all`. */
  readonly id: string;
  readonly window: "day" | "month";
  /** The fraction, 0 to 1. */
  readonly step: number;
  /** Amount spent, nano-dollars. */
  readonly spent: number;
  /** The limit, nano-dollars. */
  readonly limit: number;
  /** End of the window, wall-clock ms. */
  readonly end: number;
}

type OnSteps = (steps: readonly BudgetStep[]) => void;

/** A persisted {@linkcode Budget}: plain JSON. */
export interface BudgetSnapshot {
  /** Days, the last used one last. */
  readonly days: readonly SavedWindow[];
  /** Months, the last used one last. */
  readonly months: readonly SavedWindow[];
}

/** One window of a budget. */
export interface BudgetWindow {
  readonly window: "day" | "month";
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly end: number;
}

/**
 * A budget. Times are wall-clock ms, amounts nano-dollars. A limit is exhausted when the settled amount reaches it. A
 * request is admitted when the upper bound of its cost fits beside what is settled and reserved. Its actual cost counts
 * in any case, so spending exceeds a limit at most by what requests in flight cost beyond their reservations.
 *
 * @example
 * ```ts
 * const budget = new Budget({ daily: 5_000_000_000 }); // 5 USD
 * const now = Date.now();
 * if (budget.resetsAt(now, 2_000_000) === undefined) {
 *   const reserved = budget.reserve(2_000_000, now);
 *   reserved.settle({ costNanoUsd: 1_250_000 });
 * }
 * ```
 */
export class Budget extends WindowLimits {
  readonly #days: WindowLimit;
  readonly #months: WindowLimit;
  readonly #name: string;
  readonly #alertAt: readonly number[];
  /** Receives steps that are reached with what other processes have spent. */
  #onLateSteps: OnSteps = () => {};

  /**
   * @param name The budget's scope, for budgets that several processes share.
   * @param before The same budget under earlier limits; both share their sums.
   */
  constructor(limits: BudgetLimits, name = "", before?: Budget) {
    const { daily, monthly, alertAt = defaultAlertAt } = limits;
    const days = createLimit(daily, { window: "day", name, before: before && before.#days });
    const months = createLimit(monthly, { window: "month", name, before: before && before.#months });
    super([days, months]);
    this.#name = name;
    this.#alertAt = alertAt;
    this.#days = days;
    this.#months = months;
    for (const limit of [days, months]) {
      limit.onOthersSpent = (window, spent) => {
        // earlier spending of other processes has been reported by them
        if (spent === 0) window.alertedShare = Math.max(window.alertedShare, window.othersSpent / limit.limit);
        const steps = this.#listStepsReached({ limit, window });
        if (steps.length > 0) this.#onLateSteps(steps);
      };
    }
  }

  /** Sets other limits. Settled and reserved amounts count against them. */
  setLimits({ daily = Infinity, monthly = Infinity }: BudgetLimits): void {
    this.#days.limit = daily;
    this.#months.limit = monthly;
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
        if (this.#alertAt.length === 0) return;
        const steps = reserved.flatMap((amount) => this.#listStepsReached(amount));
        if (steps.length > 0) onSteps?.(steps);
      },
    });
  }

  #listStepsReached({ limit, window }: Pick<ReservedAmount, "limit" | "window">): readonly BudgetStep[] {
    const spent = sum(window.spent, window.othersSpent);
    const share = spent / limit.limit; // 0 when unlimited
    if (!(share > window.alertedShare) || limit.limit === 0) return [];
    const before = window.alertedShare;
    window.alertedShare = share;
    const span = limit === this.#days ? "day" : "month";
    const facts = { id: this.#name, window: span, spent, limit: limit.limit, end: window.end } as const;
    return this.#alertAt.filter((step) => step > before && step <= share).map((step) => ({ ...facts, step }));
  }

  /** Whether a limit is exhausted. */
  isSpent(wallTimeMs: number): boolean {
    return this.#days.isSpent(this.#days.at(wallTimeMs)) || this.#months.isSpent(this.#months.at(wallTimeMs));
  }

  /**
   * Returns when an amount fits again: the start of the next window of the exhausted limit, or the later one if both
   * are exhausted.
   *
   * @param wallTimeMs Wall-clock ms.
   * @param nanoUsd The amount, nano-dollars. By default, only exhausted limits are considered.
   * @returns Wall-clock ms; undefined when the amount fits now.
   */
  resetsAt(wallTimeMs: number, nanoUsd = 0): number | undefined {
    const amount = roundUp(nanoUsd);
    let at: number | undefined;
    for (const counter of [this.#days, this.#months]) {
      const window = counter.at(wallTimeMs);
      const isFree = amount === 0 ? !counter.isSpent(window) : counter.fits(window, amount);
      if (!isFree) at = Math.max(at ?? 0, window.end);
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
    const counters = [["day", this.#days], ["month", this.#months]] as const;
    return counters.flatMap(([window, counter]) => {
      const { spent, reserved, othersSpent, othersTaken, end } = counter.at(wallTimeMs);
      const { limit } = counter;
      const all = { spent: spent + othersSpent, reserved: reserved + Math.max(0, othersTaken - othersSpent) };
      return limit === Infinity ? [] : [{ window, limit, ...all, end }];
    });
  }

  /** Returns the state to persist. */
  snapshot(): BudgetSnapshot {
    return { days: this.#days.snapshot(), months: this.#months.snapshot() };
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
    this.#days.restore(snapshot.days);
    this.#months.restore(snapshot.months);
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
    this.#days.merge(stored.days, base?.days);
    this.#months.merge(stored.months, base?.months);
  }
}

/** Creates the limit of a budget per day or month. */
function createLimit(
  limit: number | undefined,
  { window, name, before }: {
    readonly window: BudgetStep["window"];
    readonly name: string;
    readonly before: WindowLimit | undefined;
  },
): WindowLimit {
  return new WindowLimit({
    limit,
    windowAt: window === "day" ? dayWindow : monthWindow,
    before,
    measure: "costNanoUsd",
    isStrict: true,
    reason: "budget",
    keyFor: ({ start }) => `budget ${name} ${window} ${formatUtcDay(start)}`,
    expiresAt: ({ end }) => end + retentionMs,
  });
}
