/**
 * What a model takes per time with one key: requests and tokens a minute, requests a day, requests at once. Counted
 * here and corrected by what the vendor's answers say.
 * @module
 */
import type { RateLimits } from "../../contracts/provider.ts";
import type { Headroom } from "../../contracts/rotation.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { RateReading } from "../../util/rate_headers.ts";
import type { ApiKey, ApiKeyPool } from "./api_key_pool.ts";
import { RateCounter, type RateCounterMark } from "./_rate_counter.ts";
import { ConcurrencySlots } from "./concurrency_slots.ts";
import type { CounterRequest, CounterSource, RateReplicaParts } from "../replication/counter_replicator.ts";
import { type SharedRate, slicedDay, slicedMinute } from "../replication/shared_rate.ts";

/** A minute is shared in slices of so many ms, and a day in longer ones. */
const [minuteSliceMs, daySliceMs] = [10_000, 3_600_000];

/** A request that counts, from {@linkcode RateLimiter.reserve} until it is settled or released. */
export interface RateReservation {
  /** It is under way. */
  isOpen: boolean;
  /** It has one of the slots that several processes share. */
  hasSlot: boolean;
  /** What the counter of requests remembers of it. */
  readonly requests: RateCounterMark;
  /** What the counter of tokens remembers of it. */
  readonly tokens: RateCounterMark;
  /** The key it is made with, where there are several. */
  readonly apiKey?: ApiKey;
}

/** What counts the requests of one model, with one key or with several. */
export type ModelRateLimiter =
  & Pick<
    RateLimiter,
    "lastStartedAt" | "reserve" | "settle" | "release" | "requests" | "tokens" | "rpm" | "fullUntil"
  >
  & {
    observe(now: number, reading: RateReading, reservation: RateReservation): void;
    /** Whether requests per minute are counted although no limit is known. */
    isWatched: boolean;
    /** What of it several processes have in common. */
    replicas(key: string, clock: Clock): RateReplicaParts[];
    /** Limits of requests at once, as several processes keep them together. */
    slots(key: string): CounterSource[];
    /** The slot that a request asks for, where these are limited. */
    slotRequests(reservation: RateReservation, wall: number): readonly CounterRequest[];
    /** A request has its slot. */
    takeSlot(reservation: RateReservation): void;
    /** What the store decides about, where several processes admit requests. */
    sharedRates(key: string, reservation: RateReservation): SharedRate[];
    /** Whether these are the limits declared for it, and the keys it counts for. */
    isUnder(limits?: RateLimits, keys?: ApiKeyPool): boolean;
  };

/**
 * The rate limits of one (key, model), for all pools. All times are monotonic ms; tokens are what a request reads and
 * writes, by estimate until it is settled.
 *
 * @example
 * ```ts ignore
 * if (limiter.isFull(now, tokens)) return askAnother();
 * const reservation = limiter.reserve(now, tokens);
 * // on the head of the answer: limiter.observe(now, readRateHeaders(headers, wall), reservation)
 * // on its end:                limiter.settle(now, reservation, usage.total_tokens)
 * ```
 */
export class RateLimiter {
  /** Whether requests per minute are counted although no limit is known. */
  isWatched = false;
  readonly #requests: RateCounter;
  readonly #tokens: RateCounter;
  readonly #hasDay: boolean;
  readonly #concurrent: number;
  #inFlight = 0;
  #slots: ConcurrencySlots | undefined;
  #sequence = 0;
  #lastStartedAt: number | undefined;

  readonly #limits: RateLimits;

  /** @param limits What is declared; limits that responses report override them. */
  constructor(limits: RateLimits = {}) {
    this.#limits = limits;
    this.#requests = new RateCounter({ minute: limits.rpm, day: limits.rpd });
    this.#tokens = new RateCounter({ minute: limits.tpm });
    this.#concurrent = limits.concurrent ?? Infinity;
    this.#hasDay = limits.rpd !== undefined;
  }

  /**
   * What of it several processes have in common: requests a minute, or a day where that is limited, and tokens.
   *
   * @param key Whose it is.
   * @param clock Wall clock for slices, monotonic for the counters.
   */
  replicas(key: string, clock: Clock): RateReplicaParts[] {
    const replica = (
      what: string,
      counter: RateCounter,
      [sliceMs, slices]: readonly [number, number],
    ): RateReplicaParts => ({
      key: `${what} ${key}`,
      sliceMs,
      slices,
      clock,
      isWanted: () => counter.isLimited || this.isWatched,
      counted: () => counter.counted,
      addOthers: (at, amount) => counter.addOthers(clock.monotonic(), at, amount),
    });
    const span = this.#hasDay ? [daySliceMs, 24] as const : [minuteSliceMs, 6] as const;
    return [replica("requests", this.#requests, span), replica("tokens", this.#tokens, [minuteSliceMs, 6])];
  }

  /**
   * The limit of requests at once, as several processes keep it together; none where there is none.
   *
   * @param key Whose it is.
   */
  slots(key: string): CounterSource[] {
    if (this.#concurrent === Infinity) return [];
    return [this.#slots ??= new ConcurrencySlots(key, this.#concurrent)];
  }

  /** The slot that a request asks for, where these are limited. */
  slotRequests(_reservation: RateReservation, wall: number): readonly CounterRequest[] {
    return this.#slots === undefined ? [] : [this.#slots.request(wall)];
  }

  /** A request has its slot. */
  takeSlot(reservation: RateReservation): void {
    if (this.#slots === undefined || reservation.hasSlot || !reservation.isOpen) return;
    reservation.hasSlot = true;
    this.#slots.take();
  }

  /**
   * The limits of requests that several processes keep together, to the request: those that were declared.
   *
   * @param key Whose they are.
   */
  sharedRates(key: string): SharedRate[] {
    const { minute, day } = this.#requests.declared;
    return [
      ...minute === undefined ? [] : [{ name: `model ${key}`, limit: minute, ...slicedMinute }],
      ...day === undefined ? [] : [{ name: `model ${key} day`, limit: day, ...slicedDay }],
    ];
  }

  /** Whether these are the limits declared for it. */
  isUnder(limits: RateLimits = {}, keys?: ApiKeyPool): boolean {
    return keys === undefined && isSameLimits(this.#limits, limits);
  }

  /** Requests under way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** When the last request was reserved, monotonic ms; undefined before the first. */
  get lastStartedAt(): number | undefined {
    return this.#lastStartedAt;
  }

  /**
   * Counts a request that is about to be sent, whether there is room for it or not.
   *
   * @param tokens What it will take at most, as far as that is known.
   */
  reserve(now: number, tokens: number): RateReservation {
    const sequence = ++this.#sequence;
    const reservation: RateReservation = {
      isOpen: true,
      hasSlot: false,
      requests: this.#requests.reserve(now, 1, sequence),
      tokens: this.#tokens.reserve(now, whole(tokens), sequence),
    };
    this.#inFlight++;
    this.#lastStartedAt = now;
    return reservation;
  }

  /**
   * Ends a reservation: the request has been answered, or failed after it was sent. A second end counts for nothing.
   *
   * @param actualTokens What it took; as reserved when unknown.
   */
  settle(now: number, reservation: RateReservation, actualTokens?: number): void {
    if (!this.#end(reservation)) return;
    const { requests, tokens } = reservation;
    this.#requests.settle(now, requests, requests.amount);
    this.#tokens.settle(now, tokens, actualTokens === undefined ? tokens.amount : whole(actualTokens));
  }

  /** Ends a reservation as if it had never been: the request never left. */
  release(now: number, reservation: RateReservation): void {
    if (!this.#end(reservation)) return;
    this.#requests.settle(now, reservation.requests, 0);
    this.#tokens.settle(now, reservation.tokens, 0);
  }

  /**
   * Applies what a response's headers report. What was reserved after the request they belong to counts against what
   * they say is left; a reading of an older request than that of the last reading is passed over.
   *
   * @param reading What they said.
   * @param reservation The request they answered, settled or not; without one, all requests under way count against
   *   what is left.
   */
  observe(now: number, reading: RateReading, reservation?: RateReservation): void {
    const newest = this.#sequence;
    const { requests, tokens } = reading;
    if (requests !== undefined) this.#requests.observe(now, requests, { mark: reservation?.requests, newest });
    if (tokens !== undefined) this.#tokens.observe(now, tokens, { mark: reservation?.tokens, newest });
  }

  /** Requests it may still take, where a limit is known. The same object each time: read it at once. */
  requests(now: number): Headroom | undefined {
    return this.#requests.headroom(now);
  }

  /** Tokens it may still take, where a limit is known. The same object each time: read it at once. */
  tokens(now: number): Headroom | undefined {
    return this.#tokens.headroom(now);
  }

  /** Requests of the last minute, and up to a second more. */
  rpm(now: number): number {
    return this.#requests.inMinute(now);
  }

  /**
   * Whether one more request would overrun a limit.
   *
   * @param tokens What it would take.
   */
  isFull(now: number, tokens: number): boolean {
    return this.#isBusy || this.#freeAt(now, tokens) > now;
  }

  /**
   * When one more request would no longer overrun a limit, as far as that is known.
   *
   * @param tokens What it would take.
   * @returns Monotonic ms; undefined when it would not overrun one now, Infinity when a request under way has to end.
   */
  fullUntil(now: number, tokens: number): number | undefined {
    if (this.#isBusy) return Infinity;
    const at = this.#freeAt(now, tokens);
    return at > now ? at : undefined;
  }

  get #isBusy(): boolean {
    return this.#inFlight + (this.#slots?.others ?? 0) >= this.#concurrent;
  }

  #end(reservation: RateReservation): boolean {
    if (!reservation.isOpen) return false;
    reservation.isOpen = false;
    this.#inFlight--;
    if (reservation.hasSlot) this.#slots!.release();
    return true;
  }

  #freeAt(now: number, tokens: number): number {
    return Math.max(this.#requests.freeAt(now, 1), this.#tokens.freeAt(now, Math.max(1, whole(tokens))));
  }
}

/** Whether two declarations say the same. */
export function isSameLimits(one: RateLimits, other: RateLimits): boolean {
  return (["rpm", "tpm", "rpd", "concurrent"] as const).every((name) => one[name] === other[name]);
}

/** Estimates may be fractions, and what a vendor reports may be nonsense. */
function whole(tokens: number): number {
  return tokens > 0 && tokens < Infinity ? Math.ceil(tokens) : 0;
}
