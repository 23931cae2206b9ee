/**
 * Rate limits of a model whose provider has several API keys. Vendors count each key separately.
 * @module
 */
import type { RateLimits } from "../../contracts/provider.ts";
import type { Headroom } from "../../contracts/rotation.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { CounterGroup } from "../counters/replicated_counter.ts";
import type { ApiKey, ApiKeyPool } from "./api_key_pool.ts";
import { isSameLimits, type ModelRateLimiter, RateLimiter } from "./rate_limiter.ts";
import type { KeyChoice, ReservedRate } from "./reserved_rate.ts";

/** The rate limiters of one model, one per API key. A reservation uses the next key with capacity (round robin). */
export class PooledRateLimiter implements ModelRateLimiter {
  readonly #pool: ApiKeyPool;
  readonly #model: string;
  readonly #limits: RateLimits | undefined;
  readonly #clock: Pick<Clock, "now" | "monotonic"> | undefined;
  readonly #limiters = new WeakMap<ApiKey, RateLimiter>();
  readonly #requests = { limit: 0, left: 0 };
  readonly #tokens = { limit: 0, left: 0 };
  #countsAlways = false;
  #onFreed: (() => void) | undefined;
  /** Index at which the next search for a key starts. */
  #turn = 0;

  /**
   * @param pool The API keys.
   * @param model The provider's model id.
   */
  constructor(
    pool: ApiKeyPool,
    model: string,
    { limits, clock }: {
      /** Declared limits of each key, and both clocks. */
      readonly limits?: RateLimits;
      readonly clock?: Pick<Clock, "now" | "monotonic">;
    } = {},
  ) {
    this.#pool = pool;
    this.#model = model;
    this.#limits = limits;
    this.#clock = clock;
  }

  get countsAlways(): boolean {
    return this.#countsAlways;
  }

  set countsAlways(countsAlways: boolean) {
    this.#countsAlways = countsAlways;
    for (const key of this.#pool.keys) this.#getLimiter(key).countsAlways = countsAlways;
  }

  get onFreed(): (() => void) | undefined {
    return this.#onFreed;
  }

  set onFreed(onFreed: (() => void) | undefined) {
    this.#onFreed = onFreed;
    for (const key of this.#pool.keys) this.#getLimiter(key).onFreed = onFreed;
  }

  get inFlight(): number {
    return this.#pool.keys.reduce((sum, key) => sum + this.#getLimiter(key).inFlight, 0);
  }

  /** Processes identify keys by their index; a replaced key counts in this process only. */
  groups(name: string, clock: Clock): CounterGroup[] {
    return this.#pool.keys.flatMap((key, index) => this.#getLimiter(key).groups(`${name} ${index}`, clock));
  }

  isUnder(limits: RateLimits = {}, keys?: ApiKeyPool): boolean {
    return keys === this.#pool && isSameLimits(this.#limits ?? {}, limits);
  }

  get lastStartedAt(): number | undefined {
    const times = this.#pool.keys.flatMap((key) => this.#getLimiter(key).lastStartedAt ?? []);
    return times.length === 0 ? undefined : Math.max(...times);
  }

  reserve(now: number, tokens: number, preferredKey?: KeyChoice): ReservedRate {
    const isUsable = preferredKey !== undefined && this.#findRetryTime(preferredKey.apiKey, now, tokens) <= now;
    const key = isUsable ? preferredKey : this.#choose(now, tokens);
    return this.#getLimiter(key.apiKey).reserve(now, tokens, key);
  }

  requests(now: number): Headroom | undefined {
    return this.#sum(this.#requests, now, (limiter) => limiter.requests(now));
  }

  tokens(now: number): Headroom | undefined {
    return this.#sum(this.#tokens, now, (limiter) => limiter.tokens(now));
  }

  rpm(now: number): number {
    return this.#pool.keys.reduce((sum, key) => sum + this.#getLimiter(key).rpm(now), 0);
  }

  /**
   * Returns when a key has capacity. Keys in standby are considered only when all are, since then the model is in
   * standby.
   */
  fullUntil(now: number, tokens: number): number | undefined {
    const areAllOut = this.#areAllInStandby(now);
    let soonest = Infinity;
    for (const key of this.#pool.keys) {
      if (!areAllOut && this.#isInStandby(key, now)) continue;
      const until = this.#getLimiter(key).fullUntil(now, tokens);
      if (until === undefined) return undefined;
      soonest = Math.min(soonest, until);
    }
    return soonest;
  }

  /** Returns when a key may admit the request, as far as is known. A key in standby may after its standby. */
  freesAt(now: number, tokens: number): number {
    let soonest = Infinity;
    for (const key of this.#pool.keys) {
      const until = this.#pool.standbyUntil(key, this.#model, now) ?? now;
      soonest = Math.min(soonest, Math.max(until, this.#getLimiter(key).freesAt(now, tokens)));
    }
    return soonest;
  }

  /** Selects the next key that is neither in standby nor at its limit, else the one that is usable first. */
  #choose(now: number, tokens: number): KeyChoice {
    const { keys } = this.#pool;
    let best = 0;
    let soonest = Infinity;
    for (let step = 0; step < keys.length; step++) {
      const index = (this.#turn + step) % keys.length;
      const retryAt = this.#findRetryTime(keys[index]!, now, tokens);
      if (retryAt >= soonest) continue;
      best = index;
      soonest = retryAt;
      if (retryAt <= now) break;
    }
    this.#turn = (best + 1) % keys.length;
    return { apiKey: keys[best]!, index: best };
  }

  /** Returns when a key can be used, not before now. */
  #findRetryTime(key: ApiKey, now: number, tokens: number): number {
    const until = this.#pool.standbyUntil(key, this.#model, now) ?? now;
    return Math.max(until, this.#getLimiter(key).fullUntil(now, tokens) ?? now);
  }

  #isInStandby(key: ApiKey, now: number): boolean {
    return this.#pool.standbyUntil(key, this.#model, now) !== undefined;
  }

  #areAllInStandby(now: number): boolean {
    return this.#pool.keys.every((key) => this.#isInStandby(key, now));
  }

  /** Sums the headroom of all usable keys. Undefined if a key has no known limit. */
  #sum(
    total: { limit: number; left: number },
    now: number,
    read: (limiter: RateLimiter) => Headroom | undefined,
  ): Headroom | undefined {
    total.limit = total.left = 0;
    const areAllOut = this.#areAllInStandby(now);
    for (const key of this.#pool.keys) {
      if (!areAllOut && this.#isInStandby(key, now)) continue;
      const headroom = read(this.#getLimiter(key));
      if (headroom === undefined) return undefined;
      total.limit += headroom.limit;
      total.left += headroom.left;
    }
    return total;
  }

  #getLimiter(key: ApiKey): RateLimiter {
    const existing = this.#limiters.get(key);
    if (existing !== undefined) return existing;
    const created = new RateLimiter(this.#limits, this.#clock);
    created.countsAlways = this.#countsAlways;
    created.onFreed = this.#onFreed;
    this.#limiters.set(key, created);
    return created;
  }
}
