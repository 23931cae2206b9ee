/**
 * Rate limits of a model for one API key: requests and tokens per minute, requests per UTC day, concurrent requests.
 * Counted locally, and corrected by the rate-limit headers of responses.
 * @module
 */
import type { RateLimits } from "../../contracts/provider.ts";
import type { Headroom } from "../../contracts/rotation.ts";
import type { Clock } from "../../contracts/runtime.ts";
import { RateCounter } from "../counters/rate_counter.ts";
import { SharedRateCount } from "../counters/shared_rate.ts";
import type { CounterGroup } from "../counters/replicated_counter.ts";
import type { ApiKeyPool } from "./api_key_pool.ts";
import { ConcurrencySlots } from "./concurrency_slots.ts";
import { type KeyChoice, type RateCounters, ReservedRate, roundTokens } from "./reserved_rate.ts";

/** Slice lengths of shared counters: for limits per minute and per day, ms. */
const [minuteSliceMs, daySliceMs] = [10_000, 3_600_000];

/** The rate limiter of a model, with one or several API keys. */
export type ModelRateLimiter =
  & Pick<
    RateLimiter,
    | "countsAlways"
    | "freesAt"
    | "fullUntil"
    | "groups"
    | "inFlight"
    | "isUnder"
    | "lastStartedAt"
    | "requests"
    | "rpm"
    | "tokens"
  >
  & {
    /** Called when it may admit more than before; undefined while no request waits for that. */
    onFreed: (() => void) | undefined;
    /** Reserves for a request, even beyond a limit. With several API keys, one may be preferred. */
    reserve(now: number, tokens: number, preferredKey?: KeyChoice): ReservedRate;
  };

/**
 * The rate limits of one API key and model, for all pools. Times are monotonic ms. Tokens are input plus output,
 * estimated until they are settled.
 *
 * @example
 * ```ts
 * const limiter = new RateLimiter({ rpm: 60, tpm: 10_000 });
 * const now = 0;
 * if (limiter.fullUntil(now, 500) === undefined) {
 *   const reserved = limiter.reserve(now, 500);
 *   reserved.observe(now + 200, { tokens: { remaining: 9_500, resetMs: 3_000 } }); // on response headers
 *   reserved.settle({ tokens: 120 }, now + 800); // at the end
 * }
 * ```
 */
export class RateLimiter {
  /** Whether requests per minute are counted even without a known limit. */
  countsAlways = false;
  readonly #counters: RateCounters;
  readonly #hasDay: boolean;
  readonly #concurrent: number;
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
    this.#counters = {
      requests: new RateCounter({ minute: limits.rpm, day: limits.rpd }, wallTimeAt),
      tokens: new RateCounter({ minute: limits.tpm }, wallTimeAt),
      inFlight: 0,
      sequence: 0,
      slots: undefined,
      onFreed: undefined,
      wallTimeAt,
    };
    this.#concurrent = limits.concurrent ?? Infinity;
    this.#hasDay = limits.rpd !== undefined;
  }

  /**
   * Returns what several processes share: requests per minute (or per day, if that is limited), tokens per minute, and
   * the slots of concurrent requests, if these are limited.
   *
   * @param key Identifies the API key and the model.
   * @param clock Wall clock for slices, monotonic clock for local counters.
   */
  groups(key: string, clock: Clock): CounterGroup[] {
    const { requests, tokens } = this.#counters;
    const share = (measure: string, counter: RateCounter, [sliceMs, slices]: readonly [number, number]) =>
      new SharedRateCount({
        key: `${measure} ${key}`,
        sliceMs,
        slices,
        clock,
        isWanted: () => counter.isLimited || this.countsAlways,
        counted: () => counter.counted,
        addOthers: (at, amount) => counter.addOthers(clock.monotonic(), at, amount),
      });
    const span = this.#hasDay ? [daySliceMs, 24] as const : [minuteSliceMs, 6] as const;
    const rates = [share("requests", requests, span), share("tokens", tokens, [minuteSliceMs, 6])];
    if (this.#concurrent === Infinity) return rates;
    const onFreed = () => this.#counters.onFreed?.();
    return [...rates, this.#counters.slots ??= new ConcurrencySlots(key, this.#concurrent, onFreed)];
  }

  /** Whether it was created with these limits. */
  isUnder(limits: RateLimits = {}, keys?: ApiKeyPool): boolean {
    return keys === undefined && isSameLimits(this.#limits, limits);
  }

  /** Requests in flight. */
  get inFlight(): number {
    return this.#counters.inFlight;
  }

  /** Called when it may admit more than before; undefined while no request waits for that. */
  get onFreed(): (() => void) | undefined {
    return this.#counters.onFreed;
  }

  set onFreed(onFreed: (() => void) | undefined) {
    this.#counters.onFreed = onFreed;
  }

  /** When the last request was reserved, monotonic ms; undefined before the first. */
  get lastStartedAt(): number | undefined {
    return this.#lastStartedAt;
  }

  /**
   * Reserves for a request, even beyond a limit.
   *
   * @param tokens Estimated maximum number of tokens.
   * @param key The API key of the call, if the provider has several.
   */
  reserve(now: number, tokens: number, key?: KeyChoice): ReservedRate {
    this.#lastStartedAt = now;
    return new ReservedRate(this.#counters, { now, tokens, key });
  }

  /** Headroom of requests, if a limit is known. Returns the same object each time: read it immediately. */
  requests(now: number): Headroom | undefined {
    return this.#counters.requests.headroom(now);
  }

  /** Headroom of tokens, if a limit is known. Returns the same object each time: read it immediately. */
  tokens(now: number): Headroom | undefined {
    return this.#counters.tokens.headroom(now);
  }

  /** Requests in the last minute, with a granularity of one second. */
  rpm(now: number): number {
    return this.#counters.requests.inMinute(now);
  }

  /**
   * Returns when one more request will not exceed a limit, as far as is known.
   *
   * @param tokens Its number of tokens.
   * @returns Monotonic ms; undefined when it fits now, Infinity when a request in flight has to end first.
   */
  fullUntil(now: number, tokens: number): number | undefined {
    const counters = this.#counters;
    if (counters.inFlight + (counters.slots?.others ?? 0) >= this.#concurrent) return Infinity;
    const needed = Math.max(1, roundTokens(tokens));
    const at = Math.max(counters.requests.freeAt(now, 1), counters.tokens.freeAt(now, needed));
    return at > now ? at : undefined;
  }

  /**
   * Returns when one more request may be admitted, as far as is known: `now` if it fits already.
   *
   * @param tokens Its number of tokens.
   * @returns Monotonic ms; Infinity when a request in flight has to end first.
   */
  freesAt(now: number, tokens: number): number {
    return this.fullUntil(now, tokens) ?? now;
  }
}

/** Whether two declarations have equal limits. */
export function isSameLimits(first: RateLimits, second: RateLimits): boolean {
  return (["rpm", "tpm", "rpd", "concurrent"] as const).every((name) => first[name] === second[name]);
}
