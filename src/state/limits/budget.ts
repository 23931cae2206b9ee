/**
 * Money spent against daily and monthly limits, in whole nano-dollars (10⁻⁹ USD). Sums are exact up to 2⁵³ − 1
 * nano-dollars, which is nine million USD in one window, and stay there beyond it.
 * @module
 */
import { dayWindow, monthWindow, type Window } from "../../util/windows.ts";
import type { CounterRequest, CounterSource, ReplicatedCounter } from "../replication/counter_replicator.ts";

/** Sums of a window that is over are kept for so long, for requests that end in the next one, ms. */
const afterlifeMs = 86_400_000;

/**
 * Windows that are remembered of each kind, the last ones used: the present one, one that requests straddle, and those
 * a wall clock that jumps may come back to.
 */
const windowsKept = 8;

/** What may be spent, nano-dollars; no limit where none is given. */
export interface BudgetLimits {
  /** In one day of the UTC calendar. */
  readonly daily?: number;
  /** In one month of the UTC calendar. */
  readonly monthly?: number;
}

/** Money reserved for a request, from {@linkcode Budget.reserve} to {@linkcode Budget.settle}. */
export interface Reservation {
  /** Nano-dollars. */
  readonly nano: number;
  /** The windows it was taken in; undefined once it is settled. */
  windows: readonly WindowSums[] | undefined;
  /** Other processes that spend the same money may know of it. */
  isConfirmed: boolean;
}

/** What one window has cost, as stored. */
export interface SavedWindow {
  /** First moment of the window, wall clock, ms. */
  readonly start: number;
  /** Nano-dollars settled. */
  readonly spent: number;
  /** Nano-dollars reserved for requests in flight. */
  readonly reserved: number;
}

/** A {@linkcode Budget} as stored: plain JSON. */
export interface BudgetSnapshot {
  /** Days, the last used one last. */
  readonly days: readonly SavedWindow[];
  /** Months, the last used one last. */
  readonly months: readonly SavedWindow[];
}

/** What one window has cost, and until when it counts. */
export interface WindowSums {
  readonly start: number;
  readonly end: number;
  spent: number;
  reserved: number;
  /** Of what is reserved, what other processes have yet to agree to. */
  unconfirmed: number;
  /** What other processes have spent. */
  othersSpent: number;
  /** What other processes have spent or reserved. */
  othersTaken: number;
  /** What all together are known to have spent. */
  reached: number;
}

/**
 * One budget. A limit is spent when what was settled reaches it. A request is sent when its upper bound fits beside what
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
  #isShared = false;

  /**
   * @param limits What may be spent.
   * @param name Whose money it is, where several processes spend it.
   * @param before The same money under other limits: what is spent and reserved with one counts for both.
   */
  constructor(limits: BudgetLimits, name = "", before?: Budget) {
    this.#days = new WindowCounter(limits.daily, dayWindow, { name: `${name} day`, before: before && before.#days });
    this.#months = new WindowCounter(limits.monthly, monthWindow, {
      name: `${name} month`,
      before: before && before.#months,
    });
  }

  /** Other processes spend it too, and a store knows what was spent so far: what this one thought it knew is dropped. */
  startReplication(): void {
    this.#isShared = true;
    for (const counter of [this.#days, this.#months]) counter.clear();
  }

  /** What of it other processes have to know. */
  *counters(wall: number): Iterable<ReplicatedCounter> {
    yield* this.#days.counters(wall);
    yield* this.#months.counters(wall);
  }

  /**
   * What a reservation takes of sums that several processes make together.
   *
   * @param reservation The reservation.
   */
  counterRequests({ nano, windows = [] }: Reservation): CounterRequest[] {
    const [day, month] = windows;
    return [...this.#days.counterRequests(nano, day), ...this.#months.counterRequests(nano, month)];
  }

  /**
   * Whether a request may be sent.
   *
   * @param nano Upper bound of its cost, nano-dollars. One of 0 always fits: what is free is served also when nothing
   *   is left.
   * @param wall Wall clock, ms.
   */
  fits(nano: number, wall: number): boolean {
    const amount = whole(nano);
    return amount === 0 || [this.#days, this.#months].every((counter) => counter.fits(counter.at(wall), amount));
  }

  /**
   * Reserves money for a request that is sent, also beyond a limit.
   *
   * @param nano Upper bound of its cost, nano-dollars.
   * @param wall Wall clock, ms.
   */
  reserve(nano: number, wall: number): Reservation {
    const windows = [this.#days.at(wall), this.#months.at(wall)];
    const reservation: Reservation = { nano: whole(nano), windows, isConfirmed: false };
    for (const window of windows) {
      window.reserved = sum(window.reserved, reservation.nano);
      window.unconfirmed = sum(window.unconfirmed, reservation.nano);
    }
    return reservation;
  }

  /**
   * Lets other processes know of a reservation: there is room for it in what they have left.
   *
   * @param reservation The reservation.
   */
  confirm(reservation: Reservation): void {
    if (reservation.isConfirmed) return;
    reservation.isConfirmed = true;
    for (const window of reservation.windows ?? []) {
      window.unconfirmed = Math.max(0, window.unconfirmed - reservation.nano);
    }
  }

  /**
   * Ends a reservation: what was really spent counts in the windows in which the reservation was taken. A second end counts for
   * nothing.
   *
   * @param reservation Whose end it is.
   * @param actual Nano-dollars, 0 for a failure; as reserved when unknown, or when it makes no sense.
   */
  settle(reservation: Reservation, actual?: number): void {
    const { windows } = reservation;
    if (windows === undefined) return;
    this.confirm(reservation);
    reservation.windows = undefined;
    const isKnown = actual !== undefined && actual >= 0 && actual < Infinity;
    const cost = isKnown ? whole(actual) : reservation.nano;
    for (const window of windows) {
      window.reserved = Math.max(0, window.reserved - reservation.nano);
      window.spent = sum(window.spent, cost);
    }
  }

  /**
   * Whether a limit is spent.
   *
   * @param wall Wall clock, ms.
   */
  isSpent(wall: number): boolean {
    return this.#days.isSpent(this.#days.at(wall)) || this.#months.isSpent(this.#months.at(wall));
  }

  /**
   * When so much more fits again: the start of the next window of the limit that stands in the way, of the later one
   * when it is both.
   *
   * @param wall Wall clock, ms.
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
   * What was settled in the present windows, nano-dollars.
   *
   * @param wall Wall clock, ms.
   */
  spent(wall: number): { readonly daily: number; readonly monthly: number } {
    return { daily: this.#days.at(wall).spent, monthly: this.#months.at(wall).spent };
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
    if (this.#isShared) return;
    this.#days.restore(snapshot.days);
    this.#months.restore(snapshot.months);
  }

  /**
   * Takes up what others have spent meanwhile: by how much what is stored has grown since this one knew it. What others
   * have reserved counts as spent until they settle it.
   *
   * @param stored As it is stored now.
   * @param known As it was stored when this one looked last; undefined when it was not.
   */
  merge(stored: BudgetSnapshot, known?: BudgetSnapshot): void {
    if (this.#isShared) return;
    this.#days.merge(stored.days, known?.days);
    this.#months.merge(stored.months, known?.months);
  }
}

/** The windows of one limit. */
class WindowCounter {
  readonly #limit: number;
  readonly #windowAt: (wall: number) => Window;
  readonly #name: string;
  /** The last used one last. Requests keep theirs, even when it is forgotten here. */
  readonly #windows: WindowSums[];

  constructor(
    limit: number | undefined,
    windowAt: (wall: number) => Window,
    { name, before }: { readonly name: string; readonly before: WindowCounter | undefined },
  ) {
    this.#limit = limit ?? Infinity;
    this.#windowAt = windowAt;
    this.#name = name;
    this.#windows = before === undefined ? [] : before.#windows;
  }

  clear(): void {
    this.#windows.length = 0;
  }

  *counters(wall: number): Iterable<ReplicatedCounter> {
    if (this.#limit === Infinity) return;
    const present = this.at(wall);
    for (const window of this.#windows) {
      yield this.#spentCounter(window, window === present);
      yield this.#takenCounter(window, window === present);
    }
  }

  *counterRequests(amount: number, window: WindowSums | undefined): Iterable<CounterRequest> {
    if (amount > 0 && window !== undefined && this.#limit < Infinity) {
      yield { counter: this.#takenCounter(window, true), amount, limit: this.#limit };
    }
  }

  #spentCounter(window: WindowSums, isPresent: boolean): ReplicatedCounter {
    return {
      ...this.#counter("spent", window, isPresent),
      own: window.spent,
      apply(others, total) {
        window.othersSpent = others;
        window.reached = Math.max(window.reached, total);
      },
    };
  }

  /** What is spent is taken: a store that has lost it gets it again. */
  #takenCounter(window: WindowSums, isPresent: boolean): ReplicatedCounter {
    return {
      ...this.#counter("taken", window, isPresent),
      own: sum(window.spent, window.reserved - window.unconfirmed),
      apply: (others) => void (window.othersTaken = others),
    };
  }

  #counter(what: string, { start, end, reached }: WindowSums, isPresent: boolean) {
    const key = `budget ${this.#name} ${new Date(start).toISOString().slice(0, 10)} ${what}`;
    return { key, expiresAt: end + afterlifeMs, isPresent, atLeast: reached };
  }

  /** The window of a time. */
  at(wall: number): WindowSums {
    const latest = this.#windows.at(-1);
    if (latest !== undefined && wall >= latest.start && wall < latest.end) return latest;
    const { start, end } = this.#windowAt(wall);
    const index = this.#windows.findIndex((one) => one.start === start);
    const [window = { start, end, spent: 0, reserved: 0, unconfirmed: 0, othersSpent: 0, othersTaken: 0, reached: 0 }] =
      index < 0 ? [] : this.#windows.splice(index, 1);
    this.#windows.push(window);
    if (this.#windows.length > windowsKept) this.#windows.shift();
    return window;
  }

  isSpent({ spent, othersSpent }: WindowSums): boolean {
    return sum(spent, othersSpent) >= this.#limit;
  }

  fits({ spent, reserved, othersTaken }: WindowSums, nano: number): boolean {
    return sum(sum(sum(spent, reserved), othersTaken), nano) <= this.#limit;
  }

  snapshot(): SavedWindow[] {
    return this.#windows.map(({ start, spent, reserved }) => ({ start, spent, reserved }));
  }

  merge(stored: readonly SavedWindow[], known: readonly SavedWindow[] = []): void {
    for (const one of stored.slice(-windowsKept)) {
      const before = known.find(({ start }) => start === one.start);
      const grown = one.spent + one.reserved - (before === undefined ? 0 : before.spent + before.reserved);
      const window = this.at(one.start);
      window.spent = Math.max(0, sum(window.spent, grown));
    }
  }

  restore(stored: unknown): void {
    if (!Array.isArray(stored)) return;
    for (const one of stored.slice(-windowsKept) as (Partial<SavedWindow> | null)[]) {
      if (typeof one?.start !== "number" || Number.isNaN(new Date(one.start).getTime())) continue;
      const window = this.at(one.start);
      window.spent = Math.max(window.spent, sum(whole(one.spent), whole(one.reserved)));
    }
  }
}

function sum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** Costs may be fractions of a nano-dollar by estimate: rounded up, what makes no sense is nothing. */
function whole(nano: unknown): number {
  return typeof nano === "number" && nano > 0 ? Math.min(Math.ceil(nano), Number.MAX_SAFE_INTEGER) : 0;
}
