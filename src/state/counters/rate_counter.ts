/**
 * Counts requests or tokens of a model against its rate limit. Merges the local count with the remaining allowance that
 * the vendor reports in response headers.
 * @module
 */
import type { Headroom } from "../../contracts/rotation.ts";
import type { Allowance } from "../../util/rate_headers.ts";
import { SlidingWindow } from "../../util/sliding_window.ts";
import { dayMs } from "../../util/windows.ts";
import { DayCounter } from "./day_counter.ts";
import type { WindowSums } from "./window_counter.ts";

const minuteMs = 60_000;
/** Requests sent within this time of each other, ms, may reach the vendor out of order. */
const reorderingMs = 500;
/** How long a reading without a reset time is valid, ms. */
const defaultResetMs = 60_000;
/** Change of the wall clock relative to the monotonic one that counts as a step, ms. */
const stepMs = 2;

/** Limits of a {@linkcode RateCounter}. */
interface RateCounterLimits {
  /** Per minute. */
  readonly minute?: number;
  /** Per UTC day. */
  readonly day?: number;
}

/** A counter's record of one reservation. */
interface RateCounterMark {
  /** Sequence number of the reservation. */
  readonly sequence: number;
  /** Time of the reservation, monotonic ms. */
  readonly at: number;
  /** The day it counts in, if there is a limit per day. */
  readonly day: WindowSums | undefined;
  /** Amount reserved. */
  readonly amount: number;
  /** Sum of all reservations that certainly reached the vendor no later than this one, including it. */
  readonly reached: number;
}

/**
 * Counter of one rate-limited quantity. While a reading is valid, the vendor's remaining allowance counts, minus what
 * has been reserved since. A reading replaces the limit per minute, unless it clearly covers a longer period. A reset
 * that is a date is reached by the clock that gets there first: it does not outlast a machine's sleep.
 */
export class RateCounter {
  readonly #limits: RateCounterLimits;
  readonly #minute = new SlidingWindow({ windowMs: minuteMs, slices: 60, expiresLate: true });
  readonly #day: DayCounter | undefined;
  readonly #wallTimeAt: (monotonicMs: number) => number;
  readonly #recent = new SlidingWindow({ windowMs: reorderingMs, slices: 1, expiresLate: true });
  /** Cached headroom, since strategies read it with every request. A `limit` of 0 means that no limit is known. */
  readonly #headroom: { limit: number; left: number } = { limit: 0, left: 0 };
  /** What remains of the tightest limit. */
  #least = Infinity;
  #steadyUntil = -Infinity;
  /** Wall clock minus monotonic clock when the headroom was computed, ms. */
  #offsetMs = 0;
  #reserved = 0;
  #returned = 0;
  #inFlight = 0;

  #reportedLimit: number | undefined;
  #maxReported = 1;
  #isLonger = false;
  /** Whether the limit per minute is the vendor's reported one. */
  #isReported = false;
  #remaining = 0;
  /** Reset of the current reading, on both clocks. */
  #reset = { monotonicMs: -Infinity, wallTimeMs: -Infinity };
  /** Sequence number of the reservation whose response carried the current reading. */
  #reader = -1;
  /** Amount reserved since the reading, which the vendor had not counted. */
  #taken = 0;

  /** @param wallTimeAt Converts a monotonic time to wall-clock time, ms. */
  constructor(limits: RateCounterLimits, wallTimeAt: (monotonicMs: number) => number) {
    this.#limits = limits;
    this.#wallTimeAt = wallTimeAt;
    if (limits.day !== undefined) this.#day = new DayCounter(limits.day);
  }

  /** Amount reserved in the last minute, with a granularity of one second. */
  inMinute(now: number): number {
    return this.#minute.sum(now);
  }

  /** Total amount ever reserved, including reservations in flight. */
  get counted(): number {
    return this.#reserved - this.#returned;
  }

  /** Whether a limit is declared or reported. */
  get isLimited(): boolean {
    return this.#limits.minute !== undefined || this.#limits.day !== undefined || this.#reportedLimit !== undefined;
  }

  /** The declared limits, without the limit per minute if the vendor reports another one. */
  get declared(): RateCounterLimits {
    const { minute, day } = this.#limits;
    return { minute: this.#isReported ? undefined : minute, day };
  }

  /** Adds what other processes have used: now, or until a time that has passed. */
  addOthers(now: number, at: number, amount: number): void {
    this.#minute.amend(now, at, amount);
    this.#day?.add(this.#wallTimeAt(at) - (at < now ? 1 : 0), amount);
    this.#taken = Math.max(0, this.#taken + amount);
    this.#steadyUntil = -Infinity;
  }

  /** Counts a reservation. */
  reserve(now: number, amount: number, sequence: number): RateCounterMark {
    const overtaking = Math.min(this.#inFlight, this.#recent.sum(now));
    this.#minute.add(now, amount);
    const day = this.#day?.add(this.#wallTimeAt(now), amount);
    this.#recent.add(now, amount);
    this.#reserved += amount;
    this.#inFlight += amount;
    this.#taken += amount;
    this.#steadyUntil = -Infinity;
    return { sequence, at: now, day, amount, reached: this.#reserved - overtaking };
  }

  /** Settles a reservation with the actual amount. */
  settle(now: number, mark: RateCounterMark, actual: number): void {
    const change = actual - mark.amount;
    this.#inFlight -= mark.amount;
    if (change === 0) return;
    this.#steadyUntil = -Infinity;
    // an excess counts in any case; a remainder only where the reservation is still counted
    if (!this.#minute.amend(now, mark.at, change) && change > 0) this.#minute.add(now, change);
    mark.day?.grow(change);
    if (mark.sequence > this.#reader) this.#taken += change;
    if (change > 0) this.#reserved += change;
    else this.#returned -= change;
  }

  /**
   * Applies a reading. A reading from an older request than the current one is ignored.
   *
   * @param allowance The vendor's reported allowance.
   * @param source What the call of the response has reserved, and whether the reset is stated as a date.
   */
  observe(now: number, allowance: Allowance, { mark, isDate = false }: {
    readonly mark: RateCounterMark;
    readonly isDate?: boolean | undefined;
  }): void {
    const { sequence, reached } = mark;
    if (now < this.#resetAt(now) && sequence < this.#reader) return;
    this.#steadyUntil = -Infinity;
    if (allowance.limit !== undefined) this.#reportedLimit = allowance.limit;
    if (allowance.remaining !== undefined) this.#isLonger = isLongerThanMinute(allowance) ?? this.#isLonger;
    this.#isReported = this.#reportedLimit !== undefined && !this.#isLonger;
    if (allowance.remaining === undefined) return;
    this.#maxReported = Math.max(this.#maxReported, allowance.remaining);
    this.#remaining = allowance.remaining;
    this.#taken = this.#reserved - reached;
    const resetMs = allowance.resetMs ?? defaultResetMs;
    this.#reset = {
      monotonicMs: now + resetMs,
      wallTimeMs: isDate ? this.#wallTimeAt(now) + resetMs : Infinity,
    };
    this.#reader = sequence;
  }

  /**
   * The headroom of the tightest limit; undefined when no limit is known. Returns the same object each time: read it
   * immediately.
   */
  headroom(now: number): Headroom | undefined {
    if (!this.#isSteady(now)) this.#refresh(now);
    return this.#headroom.limit === 0 ? undefined : this.#headroom;
  }

  /**
   * Returns when an amount fits, as far as is known: `now` if it fits already. An amount above the whole limit fits
   * when nothing else is counted, because the amount is an estimate and must not exclude a model forever.
   */
  freeAt(now: number, amount: number): number {
    if (!this.#isSteady(now)) this.#refresh(now);
    if (amount <= this.#least) return now;
    let at = now;
    const resetAt = this.#resetAt(now);
    if (now < resetAt && this.#remaining - this.#taken < Math.min(amount, this.#effectiveLimit())) at = resetAt;
    const minute = this.#minuteLimit();
    if (minute !== undefined && this.#usedOfMinute(now) > Math.max(0, minute - amount)) {
      at = Math.max(at, this.#minute.fallsTo(now, Math.max(0, minute - amount)));
    }
    if (this.#day === undefined) return at;
    const wallTimeMs = this.#wallTimeAt(now);
    return Math.max(at, this.#day.freeAt(wallTimeMs, amount) - (wallTimeMs - now));
  }

  /** The reset of the reading, monotonic ms. */
  #resetAt(now: number): number {
    const { monotonicMs, wallTimeMs } = this.#reset;
    if (now >= monotonicMs || wallTimeMs === Infinity) return monotonicMs;
    return Math.min(monotonicMs, wallTimeMs - (this.#wallTimeAt(now) - now));
  }

  /** Whether the headroom is as it was computed. Where dates count, a step of the wall clock changes it. */
  #isSteady(now: number): boolean {
    if (now >= this.#steadyUntil) return false;
    return !this.#hasDate(now) || Math.abs(this.#wallTimeAt(now) - now - this.#offsetMs) <= stepMs;
  }

  /** Whether a limit depends on the wall clock. */
  #hasDate(now: number): boolean {
    return this.#day !== undefined || now < this.#reset.monotonicMs && this.#reset.wallTimeMs < Infinity;
  }

  #refresh(now: number): void {
    this.#headroom.limit = 0;
    this.#least = this.#steadyUntil = Infinity;
    if (this.#hasDate(now)) this.#offsetMs = this.#wallTimeAt(now) - now;
    const resetAt = this.#resetAt(now);
    if (now < resetAt) this.#tighten(this.#effectiveLimit(), this.#remaining - this.#taken, resetAt);
    const minute = this.#minuteLimit();
    if (minute !== undefined) {
      const left = minute - this.#usedOfMinute(now);
      this.#tighten(minute, left, this.#minute.steadyUntil);
    }
    if (this.#day !== undefined) {
      const wallTimeMs = now + this.#offsetMs;
      const end = this.#day.end(wallTimeMs) - this.#offsetMs;
      this.#tighten(this.#limits.day!, this.#day.left(wallTimeMs), end);
    }
  }

  #tighten(limit: number, free: number, steadyUntil: number): void {
    const left = Math.max(0, free);
    this.#least = Math.min(this.#least, left);
    this.#steadyUntil = Math.min(this.#steadyUntil, steadyUntil);
    const tightest = this.#headroom;
    if (tightest.limit !== 0 && left * tightest.limit >= tightest.left * limit) return;
    tightest.limit = limit;
    tightest.left = left;
  }

  #effectiveLimit(): number {
    return this.#reportedLimit ?? this.#limits.minute ?? this.#maxReported;
  }

  #minuteLimit(): number | undefined {
    return this.#isReported ? this.#reportedLimit : this.#limits.minute;
  }

  /**
   * The amount that counts as used of the limit per minute. Where the vendor reports the limit, at most what has been
   * reserved since the last reading.
   */
  #usedOfMinute(now: number): number {
    const used = this.#minute.sum(now);
    return this.#isReported ? Math.min(used, this.#taken) : used;
  }
}

/**
 * Whether a limit covers clearly more than a minute; undefined when the reading does not say. Vendors with a token
 * bucket report the time until the bucket is full: Groq's daily limit of requests resets in seconds while little of it
 * is used.
 */
function isLongerThanMinute({ limit, remaining, resetMs }: Allowance): boolean | undefined {
  if (resetMs === undefined || limit === undefined || remaining === undefined) return undefined;
  if (resetMs > minuteMs + 1000) return true;
  return remaining < limit ? resetMs * limit / (limit - remaining) > dayMs / 2 : undefined;
}
