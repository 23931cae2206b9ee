/**
 * Limits of the last hours or days, which move in slices. Imported when a budget has one.
 * @module
 */
import type { CounterRequest, ReplicatedCounter } from "../counters/replicated_counter.ts";
import { sum, WindowSums } from "../counters/window_counter.ts";
import { type ReachedSteps, WindowLimit, type WindowLimitParts, type WindowTotals } from "./window_limit.ts";

/** Number of slices: what counts leaves the window slice by slice. */
const slices = 60;

/** How much later another process may count in a slice that has ended here, since clocks differ, ms. */
const clockSkewMs = 10_000;

/** Constructor options of a {@linkcode RollingLimit}. */
interface RollingLimitParts extends Omit<WindowLimitParts, "windowAt" | "keyFor" | "expiresAt" | "maxWindows"> {
  /** Name of the shared counters. */
  readonly name: string;
  /** Length of the window, ms. */
  readonly windowMs: number;
}

/** Whether a fraction of the limit may be reported. */
interface StepState {
  /** Whether the sum was below it since it was reported. */
  isArmed: boolean;
  /** Wall-clock ms. */
  reportedAt: number;
}

/**
 * A limit of one quantity in the last `windowMs`. Each slice is a window of its own, in which an amount is reserved and
 * settled; all slices of the last `windowMs` count, the first one until it has left the window completely. Slices that
 * are later than the present one count too, after the wall clock was set back: that must not free what was spent.
 */
export class RollingLimit extends WindowLimit {
  readonly #windowMs: number;
  readonly #sliceMs: number;
  /** Slices of which the total of all processes is final, apart from what is settled late. */
  readonly #ended = new WeakSet<WindowSums>();
  /** Start of the latest slice for which all slices before are known to exist. */
  #completeTo = NaN;
  /** Which slice is read again with the next exchange of counters. */
  #turn = 0;
  readonly #steps = new Map<number, StepState>();
  /** The fraction that was reached, and reported, before this process counted anything. */
  #earlierShare = 0;

  constructor({ name, windowMs, ...parts }: RollingLimitParts) {
    const sliceMs = windowMs / slices;
    super({
      ...parts,
      windowAt: (wallTimeMs) => {
        const start = Math.floor(wallTimeMs / sliceMs) * sliceMs;
        return { start, end: start + sliceMs };
      },
      keyFor: ({ start }) => `${name} ${start / sliceMs}`,
      expiresAt: ({ end }) => end + windowMs + 2 * sliceMs,
      maxWindows: 2 * slices + 2,
    });
    this.#windowMs = windowMs;
    this.#sliceMs = sliceMs;
  }

  override totals(wallTimeMs: number): WindowTotals {
    return this.#sumAround(this.at(wallTimeMs));
  }

  override freeAt(wallTimeMs: number, amount: number): number | undefined {
    const present = this.at(wallTimeMs);
    const { spent, reserved, othersSpent, othersTaken } = this.#sumAround(present);
    const left = { spent, reserved, othersSpent, othersTaken };
    const isFree = () => amount === 0 ? !this.isSpent(left) : this.fits(left, amount);
    if (isFree()) return undefined;
    let end = present.end;
    for (const slice of this.#listAround(present).toSorted((first, second) => first.start - second.start)) {
      if (!hasAmount(slice)) continue;
      left.spent -= slice.spent;
      left.reserved -= slice.reserved;
      left.othersSpent -= slice.othersSpent;
      left.othersTaken -= slice.othersTaken;
      end = slice.end;
      if (isFree()) break;
    }
    return end + this.#windowMs;
  }

  override takeSteps(_window: WindowSums, steps: readonly number[]): ReachedSteps | undefined {
    const present = this.windows.at(-1);
    if (present === undefined || this.limit === Infinity || this.limit === 0) return undefined;
    const { spent: own, othersSpent, end } = this.#sumAround(present);
    const spent = sum(own, othersSpent);
    const reached = steps.filter((step) => this.#isNewlyReached(step, spent / this.limit, present));
    const epoch = Math.floor(present.start / this.#windowMs);
    const claim = { name: `${epoch}`, expiresAt: (epoch + 1) * this.#windowMs };
    return reached.length === 0 ? undefined : { steps: reached, spent, end, claim };
  }

  /** A sum that goes up and down reaches a step at most once in the length of the window. */
  #isNewlyReached(step: number, share: number, { start }: WindowSums): boolean {
    let state = this.#steps.get(step);
    if (state === undefined) {
      const isArmed = step > this.#earlierShare;
      this.#steps.set(step, state = { isArmed, reportedAt: isArmed ? -Infinity : start });
    }
    if (share < step) state.isArmed = true;
    else if (state.isArmed && start >= state.reportedAt + this.#windowMs) {
      state.isArmed = false;
      state.reportedAt = start;
      return true;
    }
    return false;
  }

  override skipSteps(window: WindowSums): void {
    const { spent, othersSpent } = this.#sumAround(this.windows.at(-1) ?? window);
    if (spent === 0) this.#earlierShare = Math.max(this.#earlierShare, othersSpent / this.limit);
  }

  override restore(stored: unknown): void {
    super.restore(stored);
    const latest = this.windows.at(-1);
    if (latest !== undefined) this.#earlierShare = this.#sumAround(latest).spent / this.limit;
  }

  override snapshot(): ReturnType<WindowLimit["snapshot"]> {
    return super.snapshot().filter(({ spent, reserved }) => spent + reserved > 0);
  }

  /** All slices are read once after they have ended, and one of them again with each exchange, in turn. */
  override *replicas(wallTimeMs: number): Iterable<ReplicatedCounter> {
    if (this.limit === Infinity) return;
    const present = this.at(wallTimeMs);
    this.#complete(present);
    const again = this.windows[this.#turn++ % this.windows.length];
    for (const slice of this.windows) {
      const hasEnded = wallTimeMs >= slice.end + clockSkewMs;
      const isDue = slice === again || !this.#ended.has(slice);
      for (const counter of this.replicasOfWindow(slice, isDue && this.#isAround(slice, present))) {
        const apply: ReplicatedCounter["apply"] = (others, total) => {
          counter.apply(others, total);
          if (hasEnded) this.#ended.add(slice);
        };
        yield { ...counter, apply };
      }
    }
  }

  /**
   * The store compares one counter with one limit: that of the present slice with what the other slices leave. Slices in
   * which other processes may have counted unnoticed must be as this process knows them; otherwise the request is denied,
   * and granted when it is repeated with the present knowledge.
   */
  override request(window: WindowSums, amount: number): CounterRequest[] {
    const [request] = super.request(window, amount);
    if (request === undefined) return [];
    this.#complete(window);
    const { counter, isLeased, reason } = request;
    const others = () => this.#listAround(window).filter((slice) => slice !== window);
    const limitLeft = () => others().reduce((left, slice) => left - countTaken(slice), this.limit);
    const guards = others().filter((slice) => !this.#ended.has(slice)).map((slice): CounterRequest => ({
      counter: this.replica(slice, "taken"),
      amount: 0,
      isLeased,
      reason,
      get limit() {
        return countTaken(slice);
      },
    }));
    return [...guards, {
      counter,
      amount,
      isLeased,
      reason,
      get limit() {
        return limitLeft();
      },
    }];
  }

  /** Adds the slices of the window in which only other processes have counted. */
  #complete(present: WindowSums): void {
    if (this.#completeTo === present.start) return;
    this.#completeTo = present.start;
    const starts = new Set(this.windows.map(({ start }) => start));
    for (let number = slices; number > 0; number--) {
      const start = present.start - number * this.#sliceMs;
      if (!starts.has(start)) this.windows.push(new WindowSums({ start, end: start + this.#sliceMs }));
    }
    this.windows.sort((first, second) => first.start - second.start);
    this.windows.splice(0, this.windows.length - (2 * slices + 2));
  }

  #isAround({ start }: WindowSums, present: WindowSums): boolean {
    return Math.abs(start - present.start) <= slices * this.#sliceMs;
  }

  #listAround(present: WindowSums): readonly WindowSums[] {
    return this.windows.filter((slice) => this.#isAround(slice, present));
  }

  /** Sums the window. It ends when its oldest amount no longer counts. */
  #sumAround(present: WindowSums): WindowTotals {
    let [spent, reserved, othersSpent, othersTaken, oldest] = [0, 0, 0, 0, Infinity];
    for (const slice of this.windows) {
      if (!this.#isAround(slice, present)) continue;
      spent = sum(spent, slice.spent);
      reserved = sum(reserved, slice.reserved);
      othersSpent = sum(othersSpent, slice.othersSpent);
      othersTaken = sum(othersTaken, slice.othersTaken);
      if (hasAmount(slice)) oldest = Math.min(oldest, slice.end);
    }
    const end = (oldest < Infinity ? oldest : present.end) + this.#windowMs;
    return { spent, reserved, othersSpent, othersTaken, end };
  }
}

function hasAmount({ spent, reserved, othersSpent, othersTaken }: WindowSums): boolean {
  return spent + reserved + othersSpent + othersTaken > 0;
}

/** What is known of a slice in the shared counter: this process's confirmed part, and that of others. */
function countTaken({ spent, reserved, unconfirmed, othersTaken }: WindowSums): number {
  return sum(spent + reserved - unconfirmed, othersTaken);
}
