/**
 * What a model takes per time where its provider has several keys: a vendor counts for each of them by itself.
 * @module
 */
import type { RateLimits } from "../contracts/provider.ts";
import type { Headroom } from "../contracts/rotation.ts";
import type { RateReading } from "../util/rate_headers.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { KeyRing, ProviderKey } from "./key_ring.ts";
import { isSameLimits, type RateCounts, RateMeter, type Reservation } from "./rate_meter.ts";
import type { SharedFlow } from "./shared_flow.ts";

/** A request that counts for one of the keys. */
interface KeyedReservation extends Reservation {
  readonly key: ProviderKey;
}

/** The meters of one model, one for each key; a reservation takes the next key that has room. */
export class KeyedRates implements RateCounts {
  readonly #ring: KeyRing;
  readonly #model: string;
  readonly #limits: RateLimits | undefined;
  readonly #meters = new WeakMap<ProviderKey, RateMeter>();
  readonly #requests = { limit: 0, left: 0 };
  readonly #tokens = { limit: 0, left: 0 };
  #isWatched = false;
  /** Where the next request begins to look. */
  #turn = 0;

  /**
   * @param ring The keys.
   * @param model The model's id, as its provider knows it.
   * @param limits What is declared, for each key.
   */
  constructor(ring: KeyRing, model: string, limits?: RateLimits) {
    this.#ring = ring;
    this.#model = model;
    this.#limits = limits;
  }

  get isWatched(): boolean {
    return this.#isWatched;
  }

  set isWatched(isWatched: boolean) {
    this.#isWatched = isWatched;
    for (const key of this.#ring.keys) this.#meterOf(key).isWatched = isWatched;
  }

  /** Other processes know the keys by their places; one that is replaced meanwhile counts for this process alone. */
  flows(name: string, clock: Clock): SharedFlow[] {
    return this.#ring.keys.flatMap((key, place) => this.#meterOf(key).flows(`${name} ${place}`, clock));
  }

  isUnder(limits: RateLimits = {}, keys?: KeyRing): boolean {
    return keys === this.#ring && isSameLimits(this.#limits ?? {}, limits);
  }

  get lastStartedAt(): number | undefined {
    const times = this.#ring.keys.flatMap((key) => this.#meterOf(key).lastStartedAt ?? []);
    return times.length === 0 ? undefined : Math.max(...times);
  }

  reserve(now: number, tokens: number): Reservation {
    const key = this.#choose(now, tokens);
    return Object.assign(this.#meterOf(key).reserve(now, tokens), { key });
  }

  settle(now: number, reservation: Reservation, actualTokens?: number): void {
    this.#meterOf((reservation as KeyedReservation).key).settle(now, reservation, actualTokens);
  }

  release(now: number, reservation: Reservation): void {
    this.#meterOf((reservation as KeyedReservation).key).release(now, reservation);
  }

  observe(now: number, reading: RateReading, reservation: Reservation): void {
    this.#meterOf((reservation as KeyedReservation).key).observe(now, reading, reservation);
  }

  requests(now: number): Headroom | undefined {
    return this.#sum(this.#requests, now, (meter) => meter.requests(now));
  }

  tokens(now: number): Headroom | undefined {
    return this.#sum(this.#tokens, now, (meter) => meter.tokens(now));
  }

  rpm(now: number): number {
    return this.#ring.keys.reduce((sum, key) => sum + this.#meterOf(key).rpm(now), 0);
  }

  /** When some key has room; those that rest count only where all do, since then the model is what rests. */
  fullUntil(now: number, tokens: number): number | undefined {
    const rest = this.#allRest(now);
    let soonest = Infinity;
    for (const key of this.#ring.keys) {
      if (!rest && this.#rests(key, now)) continue;
      const until = this.#meterOf(key).fullUntil(now, tokens);
      if (until === undefined) return undefined;
      soonest = Math.min(soonest, until);
    }
    return soonest;
  }

  /** The next key that neither rests nor is full; where there is none, the one that is back first. */
  #choose(now: number, tokens: number): ProviderKey {
    const { keys } = this.#ring;
    let best = 0;
    let soonest = Infinity;
    for (let step = 0; step < keys.length; step++) {
      const place = (this.#turn + step) % keys.length;
      const key = keys[place]!;
      const rests = this.#ring.restsUntil(key, this.#model, now) ?? now;
      const backAt = Math.max(rests, this.#meterOf(key).fullUntil(now, tokens) ?? now);
      if (backAt >= soonest) continue;
      best = place;
      soonest = backAt;
      if (backAt <= now) break;
    }
    this.#turn = (best + 1) % keys.length;
    return keys[best]!;
  }

  #rests(key: ProviderKey, now: number): boolean {
    return this.#ring.restsUntil(key, this.#model, now) !== undefined;
  }

  #allRest(now: number): boolean {
    return this.#ring.keys.every((key) => this.#rests(key, now));
  }

  /** What all usable keys have together; a key nobody knows the limits of may take anything. */
  #sum(
    total: { limit: number; left: number },
    now: number,
    read: (meter: RateMeter) => Headroom | undefined,
  ): Headroom | undefined {
    total.limit = total.left = 0;
    const rest = this.#allRest(now);
    for (const key of this.#ring.keys) {
      if (!rest && this.#rests(key, now)) continue;
      const headroom = read(this.#meterOf(key));
      if (headroom === undefined) return undefined;
      total.limit += headroom.limit;
      total.left += headroom.left;
    }
    return total;
  }

  #meterOf(key: ProviderKey): RateMeter {
    const known = this.#meters.get(key);
    if (known !== undefined) return known;
    const made = new RateMeter(this.#limits);
    made.isWatched = this.#isWatched;
    this.#meters.set(key, made);
    return made;
  }
}
