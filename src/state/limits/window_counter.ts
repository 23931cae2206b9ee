/**
 * Sums of one quantity against one limit, window by window: what a budget and a quota count with.
 * @module
 */
import type { Window } from "../../util/windows.ts";

/**
 * Windows that are remembered, the last ones used: the present one, one that requests straddle, and those a wall clock
 * that jumps may come back to.
 */
const windowsKept = 8;

/** What one window has taken, as stored. */
export interface SavedWindow {
  /** First moment of the window, wall clock, ms. */
  readonly start: number;
  /** What was settled. */
  readonly spent: number;
  /** What is reserved for requests in flight. */
  readonly reserved: number;
}

/** What one window has taken. Amounts are whole and exact up to 2⁵³ − 1, where sums stay. */
export class WindowSums implements Window {
  readonly start: number;
  readonly end: number;
  /** What was settled. */
  spent = 0;
  /** What is reserved for requests in flight. */
  reserved = 0;
  /** Of what is reserved, what other processes have yet to agree to. */
  unconfirmed = 0;
  /** What other processes have spent. */
  othersSpent = 0;
  /** What other processes have spent or reserved. */
  othersTaken = 0;
  /** What all together are known to have spent. */
  reached = 0;
  /** The share of the limit that was looked at last for {@linkcode Budget}'s steps. */
  alertedShare = 0;

  constructor({ start, end }: Window) {
    this.start = start;
    this.end = end;
  }

  /** Reserves for a request that is sent. */
  reserve(amount: number): void {
    this.reserved = sum(this.reserved, amount);
    this.unconfirmed = sum(this.unconfirmed, amount);
  }

  /** Lets other processes know of a reservation. */
  confirm(amount: number): void {
    this.unconfirmed = Math.max(0, this.unconfirmed - amount);
  }

  /**
   * Ends a confirmed reservation.
   *
   * @param reserved How much it was.
   * @param actual What was spent; as reserved when unknown, or when it makes no sense.
   */
  settle(reserved: number, actual: number | undefined): void {
    const isKnown = actual !== undefined && actual >= 0 && actual < Infinity;
    this.reserved = Math.max(0, this.reserved - reserved);
    this.spent = sum(this.spent, isKnown ? whole(actual) : reserved);
  }

  /** Adds to what was spent; a negative amount is subtracted. */
  grow(amount: number): void {
    this.spent = Math.max(0, sum(this.spent, amount));
  }
}

/** What a {@linkcode WindowCounter} is made of. */
interface WindowCounterParts {
  /** The limit; none unless given. */
  readonly limit: number | undefined;
  /** The window of a time: wall clock, ms. */
  readonly windowAt: (wall: number) => Window;
  /** The same quantity under another limit: what is counted with one counts for both. */
  readonly before?: WindowCounter | undefined;
}

/**
 * The sums of one quantity. A reservation counts in the window it was taken in, and is settled there, also when that is
 * over or forgotten by then.
 */
export class WindowCounter {
  /** What may be spent in one window; Infinity: no limit. */
  limit: number;
  /** The last used one last. */
  readonly windows: WindowSums[];
  readonly #windowAt: (wall: number) => Window;

  constructor({ limit = Infinity, windowAt, before }: WindowCounterParts) {
    this.limit = limit;
    this.#windowAt = windowAt;
    this.windows = before === undefined ? [] : before.windows;
  }

  /** The window of a time: wall clock, ms. */
  at(wall: number): WindowSums {
    const latest = this.windows.at(-1);
    if (latest !== undefined && wall >= latest.start && wall < latest.end) return latest;
    const wanted = this.#windowAt(wall);
    const index = this.windows.findIndex(({ start }) => start === wanted.start);
    const [window = new WindowSums(wanted)] = index < 0 ? [] : this.windows.splice(index, 1);
    this.windows.push(window);
    if (this.windows.length > windowsKept) this.windows.shift();
    return window;
  }

  /** The last used window, or that of a later time: a wall clock that goes back stays in the window it was in. */
  latest(wall: number): WindowSums {
    return this.at(Math.max(wall, this.windows.at(-1)?.start ?? wall));
  }

  /** Whether what was settled reaches the limit. */
  isSpent({ spent, othersSpent }: WindowSums): boolean {
    return sum(spent, othersSpent) >= this.limit;
  }

  /** Whether so much more fits beside all that was settled and reserved. */
  fits({ spent, reserved, othersTaken }: WindowSums, amount: number): boolean {
    return sum(sum(sum(spent, reserved), othersTaken), amount) <= this.limit;
  }

  /** What is stored of it. */
  snapshot(): SavedWindow[] {
    return this.windows.map(({ start, spent, reserved }) => ({ start, spent, reserved }));
  }

  /**
   * Merges what others have spent meanwhile: by how much what is stored has grown.
   *
   * @param stored As it is stored now.
   * @param known As it was stored when it was known last.
   */
  merge(stored: readonly SavedWindow[], known: readonly SavedWindow[] = []): void {
    for (const one of stored.slice(-windowsKept)) {
      const before = known.find(({ start }) => start === one.start);
      const grown = one.spent + one.reserved - (before === undefined ? 0 : before.spent + before.reserved);
      this.at(one.start).grow(grown);
    }
  }

  /** Restores what was stored. Of a window that is known already the larger sum counts. */
  restore(stored: unknown): void {
    if (!Array.isArray(stored)) return;
    for (const one of stored.slice(-windowsKept) as (Partial<SavedWindow> | null)[]) {
      if (typeof one?.start !== "number" || Number.isNaN(new Date(one.start).getTime())) continue;
      const window = this.at(one.start);
      window.spent = Math.max(window.spent, sum(whole(one.spent), whole(one.reserved)));
      window.alertedShare = Math.max(window.alertedShare, window.spent / this.limit); // the process before reported it
    }
  }
}

/** Sums stay at the last exact number. */
export function sum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** Estimates may be fractions: rounded up, what makes no sense is nothing. */
export function whole(amount: unknown): number {
  return typeof amount === "number" && amount > 0 ? Math.min(Math.ceil(amount), Number.MAX_SAFE_INTEGER) : 0;
}
