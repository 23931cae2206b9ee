/**
 * Money spent against daily and monthly limits, in whole nano-dollars (10⁻⁹ USD). Sums are exact up to 2⁵³ − 1
 * nano-dollars, which is nine million USD in one window, and stay there beyond it.
 * @module
 */
import { defaultAlertAt } from "../../config/settings/defaults.ts";
import { dayOf, dayWindow, monthWindow } from "../../util/windows.ts";
import type { CounterRequest, CounterSource, ReplicatedCounter } from "../replication/counter_replicator.ts";
import { type SavedWindow, sum, whole, WindowCounter, type WindowSums } from "./window_counter.ts";

/** Sums of a window that is over are kept for so long, for requests that end in the next one, ms. */
const afterlifeMs = 86_400_000;

/** What is asked of several processes' sums: it ends with the process, and what finds no room has spent its budget. */
const money = { isLeased: true, reason: "budget" } as const;

/** What may be spent, nano-dollars; no limit where none is given. */
interface BudgetLimits {
  /** In one day of the UTC calendar. */
  readonly daily?: number;
  /** In one month of the UTC calendar. */
  readonly monthly?: number;
  /** Shares of a limit that are reported when they are reached, ascending. */
  readonly alertAt?: readonly number[];
}

/** A share of a limit that was reached. */
export interface BudgetStep {
  /** Whose money it is: `provider <id>`, `pool <name>`, `client <name>`, `all`. */
  readonly id: string;
  readonly window: "day" | "month";
  /** The share. */
  readonly step: number;
  /** Nano-dollars. */
  readonly spent: number;
  /** Nano-dollars. */
  readonly limit: number;
  /** End of the window: wall clock, ms. */
  readonly end: number;
}

const noSteps: readonly BudgetStep[] = [];

/** Money reserved for a request, from {@linkcode Budget.reserve} to {@linkcode Budget.settle}. */
export interface Reservation {
  /** Nano-dollars. */
  readonly nano: number;
  /** The windows it was taken in; undefined once it is settled. */
  windows: readonly WindowSums[] | undefined;
  /** Other processes that spend the same money may know of it. */
  isConfirmed: boolean;
}

/** A {@linkcode Budget} as stored: plain JSON. */
export interface BudgetSnapshot {
  /** Days, the last used one last. */
  readonly days: readonly SavedWindow[];
  /** Months, the last used one last. */
  readonly months: readonly SavedWindow[];
}

/** One limit of a budget. */
interface BudgetWindow {
  readonly window: "day" | "month";
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly end: number;
}

/**
 * One budget. Times are wall clock, ms, amounts nano-dollars. A limit is spent when what was settled reaches it. A request is sent when its upper bound fits beside what
 * was settled and reserved, and what is sent is counted in any case: so what is spent passes a limit by no more than
 * requests under way turn out dearer than was reserved for them.
 *
 * @example
 * ```ts ignore
 * const budget = new Budget({ daily: 5_000_000_000 }); // 5 USD
 * if (!budget.fits(2_000_000, clock.now())) return askAnother();
 * const reservation = budget.reserve(2_000_000, clock.now());
 * budget.settle(reservation, 1_250_000);
 * ```
 */
export class Budget implements CounterSource {
  readonly #days: WindowCounter;
  readonly #months: WindowCounter;
  readonly #name: string;
  readonly #alertAt: readonly number[];
  /** There where other processes spend it, too: has them know what changed. */
  #report: (() => void) | undefined;

  /**
   * @param name Whose money it is, where several processes spend it.
   * @param before The same money under other limits: what is spent and reserved with one counts for both.
   */
  constructor(limits: BudgetLimits, name = "", before?: Budget) {
    const { daily, monthly, alertAt = defaultAlertAt } = limits;
    this.#name = name;
    this.#alertAt = alertAt;
    this.#days = new WindowCounter({ limit: daily, windowAt: dayWindow, before: before && before.#days });
    this.#months = new WindowCounter({ limit: monthly, windowAt: monthWindow, before: before && before.#months });
  }

  /** Sets other limits; what is spent and reserved counts against them. */
  setLimits({ daily = Infinity, monthly = Infinity }: BudgetLimits): void {
    this.#days.limit = daily;
    this.#months.limit = monthly;
  }

  /** Other processes spend it too, and a store knows what was spent so far: what this one thought it knew is dropped. */
  startReplication(report: () => void): void {
    this.#report = report;
    for (const { windows } of [this.#days, this.#months]) windows.length = 0;
  }

  /** What of it other processes have to know. */
  *counters(wall: number): Iterable<ReplicatedCounter> {
    for (const counter of [this.#days, this.#months]) {
      if (counter.limit === Infinity) continue;
      const present = counter.at(wall);
      for (const window of counter.windows) {
        const isPresent = window === present;
        yield { ...this.#counter(counter, window, "spent"), isPresent };
        yield { ...this.#counter(counter, window, "taken"), isPresent };
      }
    }
  }

  /** What a reservation takes of sums that several processes make together. */
  counterRequests({ nano, windows = [] }: Reservation): CounterRequest[] {
    return [this.#days, this.#months].flatMap((counter, index) => {
      const window = windows[index];
      if (nano === 0 || window === undefined || counter.limit === Infinity) return [];
      return { counter: this.#counter(counter, window, "taken"), amount: nano, limit: counter.limit, ...money };
    });
  }

  /** What is spent is taken, too: a store that has lost it gets it again. */
  #counter(counter: WindowCounter, window: WindowSums, what: "spent" | "taken"): ReplicatedCounter {
    const span = counter === this.#days ? "day" : "month";
    const { start, end, spent, reserved, unconfirmed, reached } = window;
    return {
      key: `budget ${this.#name} ${span} ${dayOf(start)} ${what}`,
      expiresAt: end + afterlifeMs,
      isPresent: true,
      atLeast: reached,
      own: what === "spent" ? spent : sum(spent, reserved - unconfirmed),
      leased: what === "spent" ? 0 : reserved - unconfirmed,
      apply(others, total) {
        if (what === "taken") {
          window.othersTaken = others;
        } else {
          window.othersSpent = others;
          // what others spent before this process did, they have reported
          if (spent === 0) window.alertedShare = Math.max(window.alertedShare, others / counter.limit);
          window.reached = Math.max(window.reached, total);
        }
      },
    };
  }

  /**
   * Reserves money for a request that is sent, also beyond a limit.
   *
   * @param nano Upper bound of its cost, nano-dollars.
   */
  reserve(nano: number, wall: number): Reservation {
    const windows = [this.#days.at(wall), this.#months.at(wall)];
    const reservation: Reservation = { nano: whole(nano), windows, isConfirmed: false };
    for (const window of windows) window.reserve(reservation.nano);
    return reservation;
  }

  /** Lets other processes know of a reservation: there is room for it in what they have left. */
  confirm(reservation: Reservation): void {
    if (reservation.isConfirmed) return;
    reservation.isConfirmed = true;
    for (const window of reservation.windows ?? []) window.confirm(reservation.nano);
  }

  /**
   * Ends a reservation: what was really spent counts in the windows in which the reservation was taken. A second end counts for
   * nothing.
   *
   * @param actual Nano-dollars, 0 for a failure; as reserved when unknown, or when it makes no sense.
   * @returns The steps that are reached by it, each once in a window.
   */
  settle(reservation: Reservation, actual?: number): readonly BudgetStep[] {
    const { windows } = reservation;
    if (windows === undefined) return noSteps;
    this.confirm(reservation);
    reservation.windows = undefined;
    for (const window of windows) window.settle(reservation.nano, actual);
    this.#report?.(); // of a process that ends the store subtracts what it reserved: not what it spent, too
    return this.#alertAt.length === 0 ? noSteps : this.#stepsReached(windows);
  }

  #stepsReached(windows: readonly WindowSums[]): readonly BudgetStep[] {
    let reached = noSteps;
    for (const [index, counter] of [this.#days, this.#months].entries()) {
      const { limit } = counter;
      const window = windows[index]!;
      const spent = sum(window.spent, window.othersSpent);
      const share = spent / limit; // 0 without a limit
      if (!(share > window.alertedShare) || limit === 0) continue;
      const before = window.alertedShare;
      window.alertedShare = share;
      const steps = this.#alertAt.filter((step) => step > before && step <= share);
      const facts = { id: this.#name, window: index === 0 ? "day" : "month", spent, limit, end: window.end } as const;
      if (steps.length > 0) reached = [...reached, ...steps.map((step) => ({ ...facts, step }))];
    }
    return reached;
  }

  /** Whether a limit is spent. */
  isSpent(wall: number): boolean {
    return this.#days.isSpent(this.#days.at(wall)) || this.#months.isSpent(this.#months.at(wall));
  }

  /**
   * When so much more fits again: the start of the next window of the limit that stands in the way, of the later one
   * when it is both.
   *
   * @param nano What has to fit, nano-dollars; unless given, only limits that are spent stand in the way.
   * @returns Wall clock, ms; undefined when nothing stands in the way.
   */
  resetsAt(wall: number, nano = 0): number | undefined {
    const amount = whole(nano);
    let at: number | undefined;
    for (const counter of [this.#days, this.#months]) {
      const window = counter.at(wall);
      const isFree = amount === 0 ? !counter.isSpent(window) : counter.fits(window, amount);
      if (!isFree) at = Math.max(at ?? 0, window.end);
    }
    return at;
  }

  /**
   * The limits there are, and what counts against them.
   *
   * @param wall Wall clock, ms.
   * @returns Nano-dollars; `end` is wall clock, ms.
   */
  windows(wall: number): BudgetWindow[] {
    const counters = [["day", this.#days], ["month", this.#months]] as const;
    return counters.flatMap(([window, counter]) => {
      const { spent, reserved, othersSpent, othersTaken, end } = counter.at(wall);
      const { limit } = counter;
      const all = { spent: spent + othersSpent, reserved: reserved + Math.max(0, othersTaken - othersSpent) };
      return limit === Infinity ? [] : [{ window, limit, ...all, end }];
    });
  }

  /** What is stored of it. */
  snapshot(): BudgetSnapshot {
    return { days: this.#days.snapshot(), months: this.#months.snapshot() };
  }

  /**
   * Restores what was stored. Money that was reserved counts as spent: no process is left that could settle it. Of a window
   * that is known already the larger sum counts, so that nothing is lost and nothing counts twice.
   *
   * Of a budget that is shared nothing is restored: the store knows.
   *
   * @param snapshot As it was stored; what makes no sense in it is left out.
   */
  restore(snapshot: BudgetSnapshot): void {
    if (this.#report !== undefined) return;
    this.#days.restore(snapshot.days);
    this.#months.restore(snapshot.months);
  }

  /**
   * Merges what others have spent meanwhile: by how much what is stored has grown since this one knew it. What others
   * have reserved counts as spent until they settle it.
   *
   * @param stored As it is stored now.
   * @param known As it was stored when this one looked last; undefined when it was not.
   */
  merge(stored: BudgetSnapshot, known?: BudgetSnapshot): void {
    if (this.#report !== undefined) return;
    this.#days.merge(stored.days, known?.days);
    this.#months.merge(stored.months, known?.months);
  }
}
