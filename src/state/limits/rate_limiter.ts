/**
 * Rate limits of a model for one API key: requests and tokens per minute, requests per UTC day, concurrent requests.
 * Counted locally, and corrected by the rate-limit headers of responses.
 * @module
 */
import type { RateLimits } from "../../contracts/provider.ts";
import type { Headroom } from "../../contracts/rotation.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { RateReading } from "../../util/rate_headers.ts";
import type { ApiKey, ApiKeyPool } from "./api_key_pool.ts";
import { RateCounter, type RateCounterMark } from "../counters/rate_counter.ts";
import { ConcurrencySlots } from "./concurrency_slots.ts";
import type { CounterGroup, CounterRequest, RateReplicaParts } from "../counters/counter_replicator.ts";
import { type SharedRate, slicedDay, slicedMinute } from "../counters/shared_rate.ts";

/** Slice lengths of shared counters: for limits per minute and per day, ms. */
const [minuteSliceMs, daySliceMs] = [10_000, 3_600_000];

/** Reservation of a request, from {@linkcode RateLimiter.reserve} until it is settled or released. */
export interface RateReservation {
  /** Whether the request is in flight. */
  isOpen: boolean;
  /** Whether it holds one of the concurrency slots that several processes share. */
  hasSlot: boolean;
  /** The mark of the request counter. */
  readonly requests: RateCounterMark;
  /** The mark of the token counter. */
  readonly tokens: RateCounterMark;
  /** The API key, if the provider has several. */
  readonly apiKey?: ApiKey;
}

/** What a response reports of the rate limits. */
export interface ObservedRates extends RateReading {
  /** Whether resets are stated as dates. */
  readonly hasDates?: boolean;
}

/** The rate limiter of a model, with one or several API keys. */
export type ModelRateLimiter =
  & Pick<
    RateLimiter,
    "lastStartedAt" | "reserve" | "settle" | "release" | "requests" | "tokens" | "rpm" | "fullUntil"
  >
  & {
    observe(now: number, reading: ObservedRates, reservation: RateReservation): void;
    /** Whether requests per minute are counted even without a known limit. */
    countsAlways: boolean;
    /** Returns the counters to replicate between processes. */
    replicas(key: string, clock: Clock): RateReplicaParts[];
    /** Returns the limits of concurrent requests that several processes share. */
    slots(key: string): CounterGroup[];
    /** Returns the request for a concurrency slot, if concurrency is limited. */
    slotRequests(reservation: RateReservation, wallTimeMs: number): readonly CounterRequest[];
    /** Takes a concurrency slot, or returns it. */
    takeSlot(reservation: RateReservation, isTaken: boolean): void;
    /** Returns the rates that the shared store decides, when several processes admit requests. */
    sharedRates(key: string, reservation: RateReservation): SharedRate[];
    /** Whether it was created with these limits and API keys. */
    isUnder(limits?: RateLimits, keys?: ApiKeyPool): boolean;
  };

/**
 * The rate limits of one API key and model, for all pools. Times are monotonic ms. Tokens are input plus output,
 * estimated until they are settled.
 *
 * @example
 * ```ts
 * const limiter = new RateLimiter({ rpm: 60, tpm: 10_000 });
 * const now = 0;
 * if (!limiter.isFull(now, 500)) {
 *   const reservation = limiter.reserve(now, 500);
 *   limiter.observe(now + 200, { tokens: { remaining: 9_500, resetMs: 3_000 } }, reservation); // on response headers
 *   limiter.settle(now + 800, reservation, 120); // at the end
 * }
 * ```
 */
export class RateLimiter {
  /** Whether requests per minute are counted even without a known limit. */
  countsAlways = false;
  readonly #requests: RateCounter;
  readonly #tokens: RateCounter;
  readonly #hasDay: boolean;
  readonly #concurrent: number;
  #inFlight = 0;
  #slots: ConcurrencySlots | undefined;
  #sequence = 0;
  #lastStartedAt: number | undefined;

  readonly #limits: RateLimits;

  /**
   * @param limits Declared limits. Limits reported by responses override them.
   * @param clock Both clocks. Without it, the monotonic clock begins at the Unix epoch.
   */
  constructor(limits: RateLimits = {}, clock?: Pick<Clock, "now" | "monotonic">) {
    const wallTimeAt = clock === undefined
      ? (ms: number) => ms
      : (ms: number) => clock.now() + (ms - clock.monotonic());
    this.#limits = limits;
    this.#requests = new RateCounter({ minute: limits.rpm, day: limits.rpd }, wallTimeAt);
    this.#tokens = new RateCounter({ minute: limits.tpm }, wallTimeAt);
    this.#concurrent = limits.concurrent ?? Infinity;
    this.#hasDay = limits.rpd !== undefined;
  }

  /**
   * Returns the counters to replicate: requests per minute (or per day, if that is limited), and tokens per minute.
   *
   * @param key Identifies the API key and the model.
   * @param clock Wall clock for slices, monotonic clock for local counters.
   */
  replicas(key: string, clock: Clock): RateReplicaParts[] {
    const replica = (
      measure: string,
      counter: RateCounter,
      [sliceMs, slices]: readonly [number, number],
    ): RateReplicaParts => ({
      key: `${measure} ${key}`,
      sliceMs,
      slices,
      clock,
      isWanted: () => counter.isLimited || this.countsAlways,
      counted: () => counter.counted,
      addOthers: (at, amount) => counter.addOthers(clock.monotonic(), at, amount),
    });
    const span = this.#hasDay ? [daySliceMs, 24] as const : [minuteSliceMs, 6] as const;
    return [replica("requests", this.#requests, span), replica("tokens", this.#tokens, [minuteSliceMs, 6])];
  }

  /**
   * Returns the shared limit of concurrent requests; empty when concurrency is not limited.
   *
   * @param key Identifies the API key and the model.
   */
  slots(key: string): CounterGroup[] {
    if (this.#concurrent === Infinity) return [];
    return [this.#slots ??= new ConcurrencySlots(key, this.#concurrent)];
  }

  /** Returns the request for a concurrency slot, if concurrency is limited. */
  slotRequests(_reservation: RateReservation, wallTimeMs: number): readonly CounterRequest[] {
    return this.#slots === undefined ? [] : [this.#slots.request(wallTimeMs)];
  }

  /** Takes a concurrency slot, or returns it. */
  takeSlot(reservation: RateReservation, isTaken: boolean): void {
    if (this.#slots === undefined || reservation.hasSlot === isTaken || !reservation.isOpen) return;
    reservation.hasSlot = isTaken;
    if (isTaken) this.#slots.take();
    else this.#slots.release();
  }

  /**
   * Returns the declared request limits that several processes enforce exactly.
   *
   * @param key Identifies the API key and the model.
   */
  sharedRates(key: string): SharedRate[] {
    const { minute, day } = this.#requests.declared;
    return [
      ...minute === undefined ? [] : [{ name: `model ${key}`, limit: minute, ...slicedMinute }],
      ...day === undefined ? [] : [{ name: `model ${key} day`, limit: day, ...slicedDay }],
    ];
  }

  /** Whether it was created with these limits. */
  isUnder(limits: RateLimits = {}, keys?: ApiKeyPool): boolean {
    return keys === undefined && isSameLimits(this.#limits, limits);
  }

  /** Requests in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** When the last request was reserved, monotonic ms; undefined before the first. */
  get lastStartedAt(): number | undefined {
    return this.#lastStartedAt;
  }

  /**
   * Reserves for a request, even beyond a limit.
   *
   * @param tokens Estimated maximum number of tokens.
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
   * Settles a reservation: a response arrived, or the request failed after it was sent. A second call is ignored.
   *
   * @param actualTokens Actual number of tokens; as reserved when unknown.
   */
  settle(now: number, reservation: RateReservation, actualTokens?: number): void {
    if (!this.#end(reservation)) return;
    const { requests, tokens } = reservation;
    this.#requests.settle(now, requests, requests.amount);
    this.#tokens.settle(now, tokens, actualTokens === undefined ? tokens.amount : whole(actualTokens));
  }

  /** Releases a reservation as if it had never been made: the request was not sent. */
  release(now: number, reservation: RateReservation): void {
    if (!this.#end(reservation)) return;
    this.#requests.settle(now, reservation.requests, 0);
    this.#tokens.settle(now, reservation.tokens, 0);
  }

  /**
   * Applies the rate-limit headers of a response. Reservations made after its request are subtracted from the reported
   * remainder. A reading from an older request than the current one is ignored.
   *
   * @param reading The parsed headers.
   * @param reservation The request of the response, settled or not. Without it, all requests in flight are subtracted.
   */
  observe(now: number, reading: ObservedRates, reservation?: RateReservation): void {
    const { requests, tokens, hasDates: isDate } = reading;
    const facts = { newest: this.#sequence, isDate };
    if (requests !== undefined) this.#requests.observe(now, requests, { ...facts, mark: reservation?.requests });
    if (tokens !== undefined) this.#tokens.observe(now, tokens, { ...facts, mark: reservation?.tokens });
  }

  /** Headroom of requests, if a limit is known. Returns the same object each time: read it immediately. */
  requests(now: number): Headroom | undefined {
    return this.#requests.headroom(now);
  }

  /** Headroom of tokens, if a limit is known. Returns the same object each time: read it immediately. */
  tokens(now: number): Headroom | undefined {
    return this.#tokens.headroom(now);
  }

  /** Requests in the last minute, with a granularity of one second. */
  rpm(now: number): number {
    return this.#requests.inMinute(now);
  }

  /**
   * Whether one more request would exceed a limit.
   *
   * @param tokens Its number of tokens.
   */
  isFull(now: number, tokens: number): boolean {
    return this.#isBusy || this.#freeAt(now, tokens) > now;
  }

  /**
   * Returns when one more request will not exceed a limit, as far as is known.
   *
   * @param tokens Its number of tokens.
   * @returns Monotonic ms; undefined when it fits now, Infinity when a request in flight has to end first.
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

/** Whether two declarations have equal limits. */
export function isSameLimits(one: RateLimits, other: RateLimits): boolean {
  return (["rpm", "tpm", "rpd", "concurrent"] as const).every((name) => one[name] === other[name]);
}

/** Rounds up to an integer. Estimates may be fractional, and reported values invalid; these become 0. */
function whole(tokens: number): number {
  return tokens > 0 && tokens < Infinity ? Math.ceil(tokens) : 0;
}
