/**
 * Counts requests or tokens of a model against its rate limit. Merges the local count with the remaining allowance that
 * the vendor reports in response headers.
 * @module
 */
import type { Headroom } from "../../contracts/rotation.ts";
import type { Allowance } from "../../util/rate_headers.ts";
import { SlidingWindow } from "../../util/sliding_window.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Requests sent within this time of each other, ms, may reach the vendor out of order. */
const reorderingMs = 500;
/** How long a reading without a reset time is valid, ms. */
const defaultResetMs = 60_000;

/** Limits of a {@linkcode RateCounter}. */
interface RateCounterLimits {
  /** Per minute. */
  readonly minute?: number;
  /** Per day. */
  readonly day?: number;
}

/** A counter's record of one reservation. */
export interface RateCounterMark {
  /** Sequence number of the reservation. */
  readonly sequence: number;
  /** Time of the reservation, monotonic ms. */
  readonly at: number;
  /** Amount reserved. */
  readonly amount: number;
  /** Sum of all reservations that certainly reached the vendor no later than this one, including it. */
  readonly reached: number;
}

/**
 * Counter of one rate-limited quantity. While a reading is valid, the vendor's remaining allowance counts, minus what
 * has been reserved since. A reading replaces the limit per minute, unless it clearly covers a longer period.
 */
export class RateCounter {
  readonly #limits: RateCounterLimits;
  readonly #minute = new SlidingWindow({ windowMs: minuteMs, slices: 60, expiresLate: true });
  readonly #day: SlidingWindow | undefined;
  readonly #recent = new SlidingWindow({ windowMs: reorderingMs, slices: 1, expiresLate: true });
  /** Cached headroom, since strategies read it with every request. A `limit` of 0 means that no limit is known. */
  readonly #headroom: { limit: number; left: number } = { limit: 0, left: 0 };
  /** What remains of the tightest limit. */
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
  /** Sequence number of the reservation whose response carried the current reading. */
  #reader = -1;
  /** Amount reserved since the reading, which the vendor had not counted. */
  #taken = 0;

  constructor(limits: RateCounterLimits) {
    this.#limits = limits;
    if (limits.day !== undefined) this.#day = new SlidingWindow({ windowMs: dayMs, slices: 96, expiresLate: true });
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
    return { minute: this.#isReported() ? undefined : minute, day };
  }

  /** Adds what other processes have used. */
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

  /** Settles a reservation with the actual amount. */
  settle(now: number, mark: RateCounterMark, actual: number): void {
    const change = actual - mark.amount;
    this.#inFlight -= mark.amount;
    if (change === 0) return;
    this.#steadyUntil = -Infinity;
    // an excess counts in any case; a remainder only where the reservation is still counted
    if (!this.#minute.amend(now, mark.at, change) && change > 0) this.#minute.add(now, change);
    if (this.#day?.amend(now, mark.at, change) === false && change > 0) this.#day.add(now, change);
    if (mark.sequence > this.#reader) this.#taken += change;
    if (change > 0) this.#reserved += change;
    else this.#returned -= change;
  }

  /**
   * Applies a reading. A reading from an older request than the current one is ignored.
   *
   * @param allowance The vendor's reported allowance.
   * @param mark The reservation of the call that the response belongs to. Without one, the vendor is assumed not to
   * have counted any reservation in flight.
   * @param newest Sequence number of the newest reservation.
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

  /**
   * The headroom of the tightest limit; undefined when no limit is known. Returns the same object each time: read it
   * immediately.
   */
  headroom(now: number): Headroom | undefined {
    if (now >= this.#steadyUntil) this.#refresh(now);
    return this.#headroom.limit === 0 ? undefined : this.#headroom;
  }

  /**
   * Returns when an amount fits, as far as is known: `now` if it fits already. An amount above the whole limit fits
   * when nothing else is counted, because the amount is an estimate and must not exclude a model forever.
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

  /**
   * The amount that counts as used of the limit per minute. Where the vendor reports the limit, at most what has been
   * reserved since the last reading.
   */
  #usedOfMinute(now: number): number {
    const used = this.#minute.sum(now);
    return this.#isReported() ? Math.min(used, this.#taken) : used;
  }

  /** Whether the limit per minute is the vendor's reported one. */
  #isReported(): boolean {
    return this.#reportedLimit !== undefined && !this.#isLonger;
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
