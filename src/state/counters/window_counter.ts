/**
 * Sums of one quantity per window, against one limit. Used by budgets and quotas.
 * @module
 */
import type { Window } from "../../util/windows.ts";

/** Default number of windows kept. */
const defaultMaxWindows = 8;

/** Sums of one window, as persisted. */
export interface SavedWindow {
  /** Start of the window, wall-clock ms. */
  readonly start: number;
  /** Amount settled. */
  readonly spent: number;
  /** Amount reserved for requests in flight. */
  readonly reserved: number;
}

/** Sums of one window. Amounts are integers, exact up to 2⁵³ − 1, where they saturate. */
export class WindowSums implements Window {
  readonly start: number;
  readonly end: number;
  /** Amount settled. */
  spent = 0;
  /** Amount reserved for requests in flight. */
  reserved = 0;
  /** The part of `reserved` that the shared counters have not granted yet. */
  unconfirmed = 0;
  /** Amount spent by other processes. */
  othersSpent = 0;
  /** Amount spent or reserved by other processes. */
  othersTaken = 0;
  /** Highest known total of all processes. */
  reached = 0;
  /** The highest fraction of the limit that was checked for `Budget`'s `alert_at` steps. */
  alertedShare = 0;

  constructor({ start, end }: Window) {
    this.start = start;
    this.end = end;
  }

  /** Reserves an amount. */
  reserve(amount: number): void {
    this.reserved = sum(this.reserved, amount);
    this.unconfirmed = sum(this.unconfirmed, amount);
  }

  /** Shows a reservation to other processes, or hides it. */
  confirm(amount: number, isConfirmed = true): void {
    this.unconfirmed = Math.max(0, sum(this.unconfirmed, isConfirmed ? -amount : amount));
  }

  /**
   * Settles a confirmed reservation.
   *
   * @param actual The actual amount; unknown or invalid values count as reserved.
   */
  settle(reserved: number, actual: number | undefined): void {
    const isKnown = actual !== undefined && actual >= 0 && actual < Infinity;
    this.reserved = Math.max(0, this.reserved - reserved);
    this.spent = sum(this.spent, isKnown ? roundUp(actual) : reserved);
  }

  /** Discards settled amounts, of this process and of others. */
  clear(): void {
    this.spent =
      this.othersSpent =
      this.othersTaken =
      this.reached =
      this.alertedShare =
        0;
  }

  /** Adds to the settled amount; a negative amount is subtracted. */
  grow(amount: number): void {
    this.spent = Math.max(0, sum(this.spent, amount));
  }
}

/** Constructor options of a {@linkcode WindowCounter}. */
export interface WindowCounterParts {
  /** The limit; undefined for none. */
  readonly limit: number | undefined;
  /** Returns the window of a wall-clock time in ms. */
  readonly windowAt: (wallTimeMs: number) => Window;
  /** The same quantity under an earlier limit; both share their sums. */
  readonly before?: WindowCounter | undefined;
  /**
   * Number of windows kept, most recently used ones: the current one, one that requests straddle, and those that a
   * jumping wall clock may return to.
   * @default 8
   */
  readonly maxWindows?: number;
}

/**
 * The sums of one quantity. A reservation counts in the window it was made in, and is settled there, even after that
 * window has ended.
 */
export class WindowCounter {
  /** Limit per window; Infinity for none. */
  limit: number;
  /** Windows, the most recently used one last. */
  readonly windows: WindowSums[];
  readonly #windowAt: (wallTimeMs: number) => Window;
  readonly #maxWindows: number;

  constructor({ limit = Infinity, windowAt, before, maxWindows = defaultMaxWindows }: WindowCounterParts) {
    this.limit = limit;
    this.#maxWindows = maxWindows;
    this.#windowAt = windowAt;
    this.windows = before === undefined ? [] : before.windows;
  }

  /** Returns the window of a wall-clock time in ms. */
  at(wallTimeMs: number): WindowSums {
    const latest = this.windows.at(-1);
    if (latest !== undefined && wallTimeMs >= latest.start && wallTimeMs < latest.end) return latest;
    const requested = this.#windowAt(wallTimeMs);
    const index = this.windows.findIndex(({ start }) => start === requested.start);
    const [window = new WindowSums(requested)] = index < 0 ? [] : this.windows.splice(index, 1);
    this.windows.push(window);
    if (this.windows.length > this.#maxWindows) this.windows.shift();
    return window;
  }

  /**
   * Returns the most recently used window or a later one. When the wall clock goes backwards, the window stays, unless
   * the clock goes back further than to the window before: a clock that was wrong once must not stop the calendar.
   */
  latest(wallTimeMs: number): WindowSums {
    const latest = this.windows.at(-1);
    const stays = latest !== undefined && wallTimeMs >= latest.start - (latest.end - latest.start);
    return this.at(stays ? Math.max(wallTimeMs, latest.start) : wallTimeMs);
  }

  /** Whether the settled amount has reached the limit. */
  isSpent({ spent, othersSpent }: Pick<WindowSums, "spent" | "othersSpent">): boolean {
    return sum(spent, othersSpent) >= this.limit;
  }

  /** Whether an amount fits in addition to what is settled and reserved. */
  fits(
    { spent, reserved, othersTaken }: Pick<WindowSums, "spent" | "reserved" | "othersTaken">,
    amount: number,
  ): boolean {
    return sum(sum(sum(spent, reserved), othersTaken), amount) <= this.limit;
  }

  /** Returns the sums to persist. */
  snapshot(): SavedWindow[] {
    return this.windows.map(({ start, spent, reserved }) => ({ start, spent, reserved }));
  }

  /**
   * Merges what other processes have spent: adds the difference between two versions of the record.
   *
   * @param stored The record's current version.
   * @param base The version this process read last.
   */
  merge(stored: readonly SavedWindow[], base: readonly SavedWindow[] = []): void {
    for (const window of stored.slice(-this.#maxWindows)) {
      const before = base.find(({ start }) => start === window.start);
      const grown = window.spent + window.reserved - (before === undefined ? 0 : before.spent + before.reserved);
      this.at(window.start).grow(grown);
    }
  }

  /** Restores persisted sums. If a window is already known, the larger sum counts. */
  restore(stored: unknown): void {
    if (!Array.isArray(stored)) return;
    for (const saved of stored.slice(-this.#maxWindows) as (Partial<SavedWindow> | null)[]) {
      if (typeof saved?.start !== "number" || Number.isNaN(new Date(saved.start).getTime())) continue;
      const window = this.at(saved.start);
      window.spent = Math.max(window.spent, sum(roundUp(saved.spent), roundUp(saved.reserved)));
      window.alertedShare = Math.max(window.alertedShare, window.spent / this.limit); // the earlier process has reported it
    }
  }
}

/** Adds with saturation at the largest safe integer. */
export function sum(first: number, second: number): number {
  return Math.min(first + second, Number.MAX_SAFE_INTEGER);
}

/** Rounds up to an integer. Estimates may be fractional; invalid amounts become 0. */
export function roundUp(amount: unknown): number {
  return typeof amount === "number" && amount > 0 ? Math.min(Math.ceil(amount), Number.MAX_SAFE_INTEGER) : 0;
}
