/**
 * Budgets: spending against daily and monthly limits, in integer nano-dollars (10⁻⁹ USD). Sums are exact up to 2⁵³ − 1
 * nano-dollars (nine million USD) per window, and saturate there.
 * @module
 */
import { defaultAlertAt } from "../../config/settings/defaults.ts";
import { dayWindow, formatUtcDay, monthWindow } from "../../util/windows.ts";
import type { CounterGroup, CounterRequest, ReplicatedCounter } from "../counters/counter_replicator.ts";
import { type SavedWindow, sum, whole, WindowCounter, type WindowSums } from "../counters/window_counter.ts";

/** How long the sums of an ended window are kept, for requests that straddle windows, ms. */
const retentionMs = 86_400_000;

/**
 * Properties of requests for shared budget: it is released when the process ends, and a denial has the reason `budget`.
 */
const money = { isLeased: true, reason: "budget" } as const;

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

const noSteps: readonly BudgetStep[] = [];

/** An amount reserved for a request, from {@linkcode Budget.reserve} to {@linkcode Budget.settle}. */
export interface Reservation {
  /** The amount, nano-dollars. */
  readonly nanoUsd: number;
  /** The windows it is reserved in; undefined once it is settled. */
  windows: readonly WindowSums[] | undefined;
  /** Whether other processes that share the budget see it. */
  isConfirmed: boolean;
}

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
 *   const reservation = budget.reserve(2_000_000, now);
 *   budget.settle(reservation, 1_250_000);
 * }
 * ```
 */
export class Budget implements CounterGroup {
  readonly #days: WindowCounter;
  readonly #months: WindowCounter;
  readonly #name: string;
  readonly #alertAt: readonly number[];
  /** Set while other processes share the budget: reports changes to them. */
  #report: (() => void) | undefined;
  /** Receives steps that are reached with what other processes have spent. */
  #onLateSteps: (steps: readonly BudgetStep[]) => void = () => {};

  /**
   * @param name The budget's scope, for budgets that several processes share.
   * @param before The same budget under earlier limits; both share their sums.
   */
  constructor(limits: BudgetLimits, name = "", before?: Budget) {
    const { daily, monthly, alertAt = defaultAlertAt } = limits;
    this.#name = name;
    this.#alertAt = alertAt;
    this.#days = new WindowCounter({ limit: daily, windowAt: dayWindow, before: before && before.#days });
    this.#months = new WindowCounter({ limit: monthly, windowAt: monthWindow, before: before && before.#months });
  }

  /** Sets other limits. Settled and reserved amounts count against them. */
  setLimits({ daily = Infinity, monthly = Infinity }: BudgetLimits): void {
    this.#days.limit = daily;
    this.#months.limit = monthly;
  }

  /** Begins to share the budget with other processes. Local sums are discarded, since the store has the total. */
  startReplication(report: () => void): void {
    this.#report = report;
    for (const { windows } of [this.#days, this.#months]) windows.length = 0;
  }

  /** Returns the counters to replicate. */
  *counters(wallTimeMs: number): Iterable<ReplicatedCounter> {
    for (const counter of [this.#days, this.#months]) {
      if (counter.limit === Infinity) continue;
      const present = counter.at(wallTimeMs);
      for (const window of counter.windows) {
        const isPresent = window === present;
        yield { ...this.#counter(counter, window, "spent"), isPresent };
        yield { ...this.#counter(counter, window, "taken"), isPresent };
      }
    }
  }

  /** Returns what a reservation requests of the shared counters. */
  counterRequests({ nanoUsd, windows = [] }: Reservation): CounterRequest[] {
    return [this.#days, this.#months].flatMap((counter, index) => {
      const window = windows[index];
      if (nanoUsd === 0 || window === undefined || counter.limit === Infinity) return [];
      return { counter: this.#counter(counter, window, "taken"), amount: nanoUsd, limit: counter.limit, ...money };
    });
  }

  /**
   * Returns one replicated counter. `taken` includes what is spent, so that a store that has lost its data receives it
   * again.
   */
  #counter(counter: WindowCounter, window: WindowSums, kind: "spent" | "taken"): ReplicatedCounter {
    const span = counter === this.#days ? "day" : "month";
    const { start, end, spent, reserved, unconfirmed, reached } = window;
    return {
      key: `budget ${this.#name} ${span} ${formatUtcDay(start)} ${kind}`,
      expiresAt: end + retentionMs,
      isPresent: true,
      atLeast: reached,
      own: kind === "spent" ? spent : sum(spent, reserved - unconfirmed),
      leased: kind === "spent" ? 0 : reserved - unconfirmed,
      apply: (others, total) => {
        if (kind === "taken") {
          window.othersTaken = others;
          return;
        }
        window.othersSpent = others;
        window.reached = Math.max(window.reached, total);
        // earlier spending of other processes has been reported by them
        if (spent === 0) window.alertedShare = Math.max(window.alertedShare, others / counter.limit);
        const steps = this.#stepsReached(counter, window);
        if (steps.length > 0) this.#onLateSteps(steps);
      },
    };
  }

  /**
   * Reserves an amount for a request, even beyond a limit.
   *
   * @param nanoUsd Upper bound of the cost, nano-dollars.
   * @param wallTimeMs Wall-clock ms.
   */
  reserve(nanoUsd: number, wallTimeMs: number): Reservation {
    const windows = [this.#days.at(wallTimeMs), this.#months.at(wallTimeMs)];
    const reservation: Reservation = { nanoUsd: whole(nanoUsd), windows, isConfirmed: false };
    for (const window of windows) window.reserve(reservation.nanoUsd);
    return reservation;
  }

  /** Shows a reservation to other processes after the shared counters have granted it, or hides it again. */
  confirm(reservation: Reservation, isConfirmed = true): void {
    if (reservation.isConfirmed === isConfirmed) return;
    reservation.isConfirmed = isConfirmed;
    for (const window of reservation.windows ?? []) window.confirm(reservation.nanoUsd, isConfirmed);
  }

  /**
   * Settles a reservation: the actual cost counts in the windows of the reservation. A second call is ignored.
   *
   * @param actual Actual cost, nano-dollars; 0 for a failure. Unknown or invalid values count as the reserved amount.
   * @param onLateSteps Called with steps that turn out to be reached once the total of all processes is known.
   * @returns The `alert_at` steps reached, each once per window.
   */
  settle(
    reservation: Reservation,
    actual?: number,
    onLateSteps?: (steps: readonly BudgetStep[]) => void,
  ): readonly BudgetStep[] {
    const { windows } = reservation;
    if (windows === undefined) return noSteps;
    if (onLateSteps !== undefined) this.#onLateSteps = onLateSteps;
    this.confirm(reservation);
    reservation.windows = undefined;
    for (const window of windows) window.settle(reservation.nanoUsd, actual);
    this.#report?.(); // if the process ends now, the store releases its reservations, but keeps this
    if (this.#alertAt.length === 0) return noSteps;
    const [day, month] = windows;
    const steps = [...this.#stepsReached(this.#days, day!), ...this.#stepsReached(this.#months, month!)];
    return steps.length === 0 ? noSteps : steps;
  }

  #stepsReached(counter: WindowCounter, window: WindowSums): readonly BudgetStep[] {
    const { limit } = counter;
    const spent = sum(window.spent, window.othersSpent);
    const share = spent / limit; // 0 when unlimited
    if (!(share > window.alertedShare) || limit === 0) return noSteps;
    const before = window.alertedShare;
    window.alertedShare = share;
    const span = counter === this.#days ? "day" : "month";
    const facts = { id: this.#name, window: span, spent, limit, end: window.end } as const;
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
    const amount = whole(nanoUsd);
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
    if (this.#report !== undefined) return;
    this.#days.restore(snapshot.days);
    this.#months.restore(snapshot.months);
  }

  /**
   * Merges what other processes have spent: adds the difference between two versions of the record. Their reservations
   * count as spent until they settle them.
   *
   * @param stored The record's current version.
   * @param known The version this process read last; undefined if it has not read it.
   */
  merge(stored: BudgetSnapshot, known?: BudgetSnapshot): void {
    if (this.#report !== undefined) return;
    this.#days.merge(stored.days, known?.days);
    this.#months.merge(stored.months, known?.months);
  }
}
