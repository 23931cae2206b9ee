/**
 * Tokens per minute of a client, a team, a tag or an end user: reserved by estimate, settled at what was used.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import { SlidingWindow } from "../../util/sliding_window.ts";
import type { CounterGroup, CounterRequest } from "../counters/replicated_counter.ts";
import type { ReservedPart, Settlement } from "../counters/reservation.ts";
import { SharedRateCount } from "../counters/shared_rate.ts";
import { roundTokens } from "./reserved_rate.ts";

/** Slices of the minute that several processes share. */
const shared = { sliceMs: 10_000, slices: 6 };

/** Tokens in the last minute, against one limit. Times are monotonic ms. */
export class TokenRate {
  /** Maximum number of tokens per minute. */
  limit: number = Infinity;
  readonly #window = new SlidingWindow({ windowMs: 60_000, slices: 60, expiresLate: true });
  /** Tokens of this process since it started. */
  #counted = 0;
  /** Tokens of calls in flight. */
  #reserved = 0;

  /** Whether nothing counts now. */
  isEmpty(now: number): boolean {
    return this.#reserved === 0 && this.#window.sum(now) === 0;
  }

  /**
   * Returns when an amount fits, as far as is known: `now` if it fits already. An amount above the limit fits when
   * nothing else is counted, since it is an estimate.
   */
  freesAt(now: number, tokens: number): number {
    if (this.limit === Infinity) return now;
    const room = Math.max(0, this.limit - Math.max(1, roundTokens(tokens)));
    return this.#window.sum(now) > room ? Math.max(now + 1, this.#window.fallsTo(now, room)) : now;
  }

  /** Reserves tokens for a call, even beyond the limit. */
  reserve(now: number, tokens: number): ReservedPart {
    const amount = roundTokens(tokens);
    this.#add(now, amount);
    this.#reserved += amount;
    return new ReservedTokens((actual, endedAt) => {
      this.#reserved -= amount;
      const change = (actual === undefined ? amount : roundTokens(actual)) - amount;
      if (change === 0) return;
      // an excess counts in any case; a remainder only where the reservation still counts
      const isInWindow = this.#window.amend(endedAt, now, change);
      if (isInWindow) this.#counted += change;
      else if (change > 0) this.#add(endedAt, change);
    });
  }

  /** Returns what several processes share. */
  createGroup(key: string, clock: Clock): CounterGroup {
    return new SharedRateCount({
      key: `tokens ${key}`,
      ...shared,
      clock,
      isWanted: () => this.limit < Infinity,
      counted: () => this.#counted,
      addOthers: (at, amount) => void this.#window.amend(clock.monotonic(), at, amount),
    });
  }

  #add(now: number, tokens: number): void {
    this.#counted += tokens;
    this.#window.add(now, tokens);
  }
}

/** The tokens that a call has reserved. Other processes see them with the next sync. */
class ReservedTokens implements ReservedPart {
  readonly #settle: (tokens: number | undefined, now: number) => void;
  #isSettled = false;

  constructor(settle: (tokens: number | undefined, now: number) => void) {
    this.#settle = settle;
  }

  counterRequests(): readonly CounterRequest[] {
    return [];
  }

  confirm(): void {}

  settle({ tokens }: Settlement, now: number): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settle(tokens, now);
  }
}
