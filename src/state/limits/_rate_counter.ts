/**
 * How much of one thing, requests or tokens, a model may still take: what was counted here and what its vendor said,
 * merged.
 * @module
 */
import type { Headroom } from "../../contracts/rotation.ts";
import type { Allowance } from "../../util/rate_headers.ts";
import { SlidingWindow } from "../../util/sliding_window.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Requests sent within this time of one another, ms, may have reached the vendor in another order. */
const overtakingMs = 500;
/** A reading without a reset time is in force for so long, ms. */
const defaultResetMs = 60_000;

/** Limits of a {@linkcode RateCounter}. */
interface RateCounterLimits {
  /** For a minute. */
  readonly minute?: number;
  /** For a day. */
  readonly day?: number;
}

/** What a reservation remembers of a counter. */
export interface RateCounterMark {
  /** Its number among all reservations. */
  readonly sequence: number;
  /** When it was made, monotonic ms. */
  readonly at: number;
  /** How much was reserved. */
  readonly amount: number;
  /** Of all that was ever reserved, what reached the vendor no later for sure, itself included. */
  readonly reached: number;
}

/**
 * One thing that is limited. While a reading of the vendor's is in force, the vendor's count holds, less
 * what has been reserved since; it stands in for the minute's limit unless it is clearly about a longer time.
 */
export class RateCounter {
  readonly #limits: RateCounterLimits;
  readonly #minute = new SlidingWindow({ windowMs: minuteMs, slices: 60, forgetsLate: true });
  readonly #day: SlidingWindow | undefined;
  readonly #recent = new SlidingWindow({ windowMs: overtakingMs, slices: 1, forgetsLate: true });
  /** What strategies ask for with every request, worked out once per change; no limit is known when `limit` is 0. */
  readonly #headroom: { limit: number; left: number } = { limit: 0, left: 0 };
  /** What is left of the limit that leaves least. */
  #least = Infinity;
  #steadyUntil = -Infinity;
  #reserved = 0;
  #returned = 0;
  #inFlight = 0;

  #reportedLimit: number | undefined;
  #maxReported = 1;
  #isLonger = false;
  #remaining = 0;
  #until = -Infinity;
  /** The reservation whose answer said so. */
  #reader = -1;
  /** Reserved since then, and therefore not known to the vendor when it said so. */
  #taken = 0;

  constructor(limits: RateCounterLimits) {
    this.#limits = limits;
    if (limits.day !== undefined) this.#day = new SlidingWindow({ windowMs: dayMs, slices: 96, forgetsLate: true });
  }

  /** What was reserved in the last minute, and up to a second more. */
  inMinute(now: number): number {
    return this.#minute.sum(now);
  }

  /** All that was ever taken here, reservations under way included. */
  get counted(): number {
    return this.#reserved - this.#returned;
  }

  /** Whether a limit is known, declared or reported. */
  get isLimited(): boolean {
    return this.#limits.minute !== undefined || this.#limits.day !== undefined || this.#reportedLimit !== undefined;
  }

  /** The limits that were declared, without a minute's that the vendor reports otherwise. */
  get declared(): RateCounterLimits {
    const { minute, day } = this.#limits;
    return { minute: this.#isReported() ? undefined : minute, day };
  }

  /** Counts what other processes took. */
  addOthers(now: number, at: number, amount: number): void {
    this.#minute.amend(now, at, amount);
    this.#day?.amend(now, at, amount);
    this.#taken = Math.max(0, this.#taken + amount);
    this.#steadyUntil = -Infinity;
  }

  /** Counts a reservation. */
  reserve(now: number, amount: number, sequence: number): RateCounterMark {
    const overtaking = Math.min(this.#inFlight, this.#recent.sum(now));
    this.#minute.add(now, amount);
    this.#day?.add(now, amount);
    this.#recent.add(now, amount);
    this.#reserved += amount;
    this.#inFlight += amount;
    this.#taken += amount;
    this.#steadyUntil = -Infinity;
    return { sequence, at: now, amount, reached: this.#reserved - overtaking };
  }

  /** Ends a reservation with what it really took. */
  settle(now: number, mark: RateCounterMark, actual: number): void {
    const change = actual - mark.amount;
    this.#inFlight -= mark.amount;
    if (change === 0) return;
    this.#steadyUntil = -Infinity;
    // What it took beyond its reservation counts in any case, what it left only where it is still counted.
    if (!this.#minute.amend(now, mark.at, change) && change > 0) this.#minute.add(now, change);
    if (this.#day?.amend(now, mark.at, change) === false && change > 0) this.#day.add(now, change);
    if (mark.sequence > this.#reader) this.#taken += change;
    if (change > 0) this.#reserved += change;
    else this.#returned -= change;
  }

  /**
   * Takes a reading. Those of requests older than that of the reading in force are passed over.
   *
   * @param allowance What the vendor said.
   * @param mark Of the reservation it said so to; without one, nothing under way counts as known to the vendor.
   * @param newest Sequence of the newest reservation.
   */
  observe(now: number, allowance: Allowance, { mark, newest }: { mark?: RateCounterMark; newest: number }): void {
    const sequence = mark?.sequence ?? newest;
    if (now < this.#until && sequence < this.#reader) return;
    this.#steadyUntil = -Infinity;
    if (allowance.limit !== undefined) this.#reportedLimit = allowance.limit;
    if (allowance.remaining === undefined) return;
    this.#isLonger = isLongerThanMinute(allowance) ?? this.#isLonger;
    this.#maxReported = Math.max(this.#maxReported, allowance.remaining);
    this.#remaining = allowance.remaining;
    this.#taken = mark === undefined ? this.#inFlight : this.#reserved - mark.reached;
    this.#until = now + (allowance.resetMs ?? defaultResetMs);
    this.#reader = sequence;
  }

  /** The tightest of its limits; undefined when none is known. The same object each time: read it at once. */
  headroom(now: number): Headroom | undefined {
    if (now >= this.#steadyUntil) this.#refresh(now);
    return this.#headroom.limit === 0 ? undefined : this.#headroom;
  }

  /**
   * When so much more fits, as far as it is known: `now` when it does already. More than a whole limit fits when
   * nothing else is counted: what is asked is an estimate, and must not keep a model out for good.
   */
  freeAt(now: number, amount: number): number {
    if (now >= this.#steadyUntil) this.#refresh(now);
    if (amount <= this.#least) return now;
    let at = now;
    if (now < this.#until && this.#remaining - this.#taken < Math.min(amount, this.#effectiveLimit())) at = this.#until;
    const minute = this.#minuteLimit();
    if (minute !== undefined && this.#usedOfMinute(now) > Math.max(0, minute - amount)) {
      at = Math.max(at, this.#minute.fallsTo(now, Math.max(0, minute - amount)));
    }
    const { day } = this.#limits;
    return day === undefined ? at : Math.max(at, this.#day!.fallsTo(now, Math.max(0, day - amount)));
  }

  #refresh(now: number): void {
    this.#headroom.limit = 0;
    this.#least = this.#steadyUntil = Infinity;
    if (now < this.#until) this.#tighten(this.#effectiveLimit(), this.#remaining - this.#taken, this.#until);
    const minute = this.#minuteLimit();
    if (minute !== undefined) {
      const left = minute - this.#usedOfMinute(now);
      this.#tighten(minute, left, this.#minute.steadyUntil);
    }
    const { day } = this.#limits;
    if (day !== undefined) {
      const left = day - this.#day!.sum(now);
      this.#tighten(day, left, this.#day!.steadyUntil);
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
    return this.#isReported() ? this.#reportedLimit : this.#limits.minute;
  }

  /** What counts as used of it: where the vendor reports it, no more than has been reserved since its last reading. */
  #usedOfMinute(now: number): number {
    const used = this.#minute.sum(now);
    return this.#isReported() ? Math.min(used, this.#taken) : used;
  }

  /** Whether the minute's limit is one that the vendor reported. */
  #isReported(): boolean {
    return this.#reportedLimit !== undefined && !this.#isLonger;
  }
}

/**
 * Whether a limit is for clearly more than a minute; undefined when it does not say. A vendor that lets the allowance
 * flow back evenly gives the time until it is whole again: Groq's limit of requests, which is a day's, resets in
 * seconds as long as few are used.
 */
function isLongerThanMinute({ limit, remaining, resetMs }: Allowance): boolean | undefined {
  if (resetMs === undefined || limit === undefined || remaining === undefined) return undefined;
  if (resetMs > minuteMs + 1000) return true;
  return remaining < limit ? resetMs * limit / (limit - remaining) > dayMs / 2 : undefined;
}
