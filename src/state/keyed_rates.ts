/**
 * What a model takes per time where its provider has several keys: a vendor counts for each of them by itself.
 * @module
 */
import type { RateLimits } from "../contracts/provider.ts";
import type { Headroom } from "../contracts/rotation.ts";
import type { RateReading } from "../util/rate_headers.ts";
import type { KeyRing } from "./key_ring.ts";
import { type RateCounts, RateMeter, type Reservation } from "./rate_meter.ts";

/** A request that counts for one of the keys. */
interface KeyedReservation extends Reservation {
  readonly key: number;
}

/** The meters of one model, one for each key; a reservation takes the next key that has room. */
export class KeyedRates implements RateCounts {
  readonly #ring: KeyRing;
  readonly #model: string;
  readonly #meters: readonly RateMeter[];
  readonly #requests = { limit: 0, left: 0 };
  readonly #tokens = { limit: 0, left: 0 };
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
    this.#meters = Array.from({ length: ring.size }, () => new RateMeter(limits));
  }

  get lastStartedAt(): number | undefined {
    const times = this.#meters.flatMap(({ lastStartedAt }) => lastStartedAt ?? []);
    return times.length === 0 ? undefined : Math.max(...times);
  }

  reserve(now: number, tokens: number): Reservation {
    const key = this.#choose(now, tokens);
    return Object.assign(this.#meters[key]!.reserve(now, tokens), { key });
  }

  settle(now: number, reservation: Reservation, actualTokens?: number): void {
    this.#meterOf(reservation).settle(now, reservation, actualTokens);
  }

  release(now: number, reservation: Reservation): void {
    this.#meterOf(reservation).release(now, reservation);
  }

  observe(now: number, reading: RateReading, reservation: Reservation): void {
    this.#meterOf(reservation).observe(now, reading, reservation);
  }

  requests(now: number): Headroom | undefined {
    return this.#sum(this.#requests, now, (meter) => meter.requests(now));
  }

  tokens(now: number): Headroom | undefined {
    return this.#sum(this.#tokens, now, (meter) => meter.tokens(now));
  }

  rpm(now: number): number {
    return this.#meters.reduce((sum, meter) => sum + meter.rpm(now), 0);
  }

  /** When some key has room; those that rest count only where all do, since then the model is what rests. */
  fullUntil(now: number, tokens: number): number | undefined {
    const rest = this.#allRest(now);
    let soonest = Infinity;
    for (let place = 0; place < this.#meters.length; place++) {
      if (!rest && this.#rests(place, now)) continue;
      const until = this.#meters[place]!.fullUntil(now, tokens);
      if (until === undefined) return undefined;
      soonest = Math.min(soonest, until);
    }
    return soonest;
  }

  /** The next key that neither rests nor is full; where there is none, the one that is back first. */
  #choose(now: number, tokens: number): number {
    const { size } = this.#ring;
    let best = 0;
    let soonest = Infinity;
    for (let step = 0; step < size; step++) {
      const place = (this.#turn + step) % size;
      const rests = this.#ring.restsUntil(place, this.#model, now) ?? now;
      const backAt = Math.max(rests, this.#meters[place]!.fullUntil(now, tokens) ?? now);
      if (backAt >= soonest) continue;
      best = place;
      soonest = backAt;
      if (backAt <= now) break;
    }
    this.#turn = (best + 1) % size;
    return best;
  }

  #rests(place: number, now: number): boolean {
    return this.#ring.restsUntil(place, this.#model, now) !== undefined;
  }

  #allRest(now: number): boolean {
    return this.#meters.every((_, place) => this.#rests(place, now));
  }

  /** What all usable keys have together; a key nobody knows the limits of may take anything. */
  #sum(
    total: { limit: number; left: number },
    now: number,
    read: (meter: RateMeter) => Headroom | undefined,
  ): Headroom | undefined {
    total.limit = total.left = 0;
    const rest = this.#allRest(now);
    for (let place = 0; place < this.#meters.length; place++) {
      if (!rest && this.#rests(place, now)) continue;
      const headroom = read(this.#meters[place]!);
      if (headroom === undefined) return undefined;
      total.limit += headroom.limit;
      total.left += headroom.left;
    }
    return total;
  }

  #meterOf(reservation: Reservation): RateMeter {
    return this.#meters[(reservation as KeyedReservation).key]!;
  }
}
