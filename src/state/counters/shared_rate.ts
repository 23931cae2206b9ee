/**
 * Rates that several processes enforce or count together.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import { dayMs } from "../../util/windows.ts";
import type { CounterGroup, ReplicatedCounter } from "./replicated_counter.ts";
import { getOrCreate } from "../../util/once.ts";

/**
 * A sliding window of slices, in which a request counts until its whole slice has left the window; or, with no further
 * slices, the calendar window that is the present slice.
 */
interface SlicedTime {
  /** Length of a slice, ms. */
  readonly sliceMs: number;
  /** Number of slices in the window besides the present one. */
  readonly slices: number;
}

/** One minute. */
export const slicedMinute: SlicedTime = { sliceMs: 1_000, slices: 60 };

/** The UTC day. */
export const slicedDay: SlicedTime = { sliceMs: dayMs, slices: 0 };

/** A rate limit that several processes enforce together. */
export interface SharedRate extends SlicedTime {
  /** Key in the store. */
  readonly name: string;
  /** Maximum number of requests in the window. */
  readonly limit: number;
}

/** Result of requesting one request of a rate. */
export interface RateGrant {
  /** 0 when granted; else the time until a request may be granted, ms. */
  readonly waitMs: number;
  /** Releases a request that was not sent. */
  release(): void;
}

/** Constructor options of a {@linkcode SharedRateCount}. */
interface SharedRateCountParts {
  /** Key of the rate. */
  readonly key: string;
  /** Length of a slice, ms. */
  readonly sliceMs: number;
  /** Number of slices in the window. */
  readonly slices: number;
  readonly clock: Clock;
  /** Whether the rate is needed. */
  readonly isWanted: () => boolean;
  /** Returns the total amount this process has used since it started. */
  readonly counted: () => number;
  /** Applies what other processes used at a monotonic time in ms; negative amounts are subtracted. */
  readonly addOthers: (at: number, amount: number) => void;
}

/** Known counts of a slice. */
interface Slice {
  own: number;
  others: number;
}

/**
 * The count of a rate by several processes: a sliding window of slices of wall-clock time. Each process adds to a counter
 * per slice, and reads what other processes added.
 */
export class SharedRateCount implements CounterGroup {
  readonly #parts: SharedRateCountParts;
  readonly #slices = new Map<number, Slice>();
  #counted: number | undefined;
  /** Whether other processes have used some of the rate in the slices that may still change. */
  #isShared = false;

  constructor(parts: SharedRateCountParts) {
    this.#parts = parts;
  }

  /** Returns the slices that may still change; initially all slices of the window. */
  *counters(wallTimeMs: number): Iterable<ReplicatedCounter> {
    const { key, sliceMs, slices, isWanted, counted } = this.#parts;
    if (!isWanted()) return;
    this.#isShared = false;
    const present = Math.floor(wallTimeMs / sliceMs);
    const isFirst = this.#counted === undefined;
    const taken = counted();
    this.#slice(present).own += taken - (this.#counted ?? taken); // usage before replication is not reported
    this.#counted = taken;
    for (const number of this.#slices.keys()) if (number < present - slices) this.#slices.delete(number);
    for (let number = present - (isFirst ? slices : 1); number <= present; number++) {
      const slice = this.#slice(number);
      yield {
        key: `rate ${key} ${number}`,
        expiresAt: (number + slices + 2) * sliceMs,
        own: slice.own,
        isPresent: true,
        apply: (others) => this.#apply(number, slice, others),
      };
    }
  }

  /** The amount counted; undefined while other processes use the rate. */
  get changes(): number | undefined {
    return this.#isShared ? undefined : this.#parts.counted();
  }

  #slice(number: number): Slice {
    return getOrCreate(this.#slices, number, () => ({ own: 0, others: 0 }));
  }

  /**
   * Applies other processes' part of a slice. An ended slice counts from its end, so that it expires late rather than
   * early.
   */
  #apply(number: number, slice: Slice, others: number): void {
    const { sliceMs, clock, addOthers } = this.#parts;
    const change = others - slice.others;
    slice.others = others;
    this.#isShared ||= others > 0;
    if (change === 0) return;
    const agoMs = Math.max(0, clock.now() - (number + 1) * sliceMs);
    addOthers(clock.monotonic() - agoMs, change);
  }
}
