/**
 * How much of something several processes take per time: each one puts what it took into the sum of a slice of wall
 * clock time, and reads what the others put there.
 * @module
 */
import type { CounterSource, RateReplicaParts, ReplicatedCounter } from "./counter_replicator.ts";

/** What is known of a slice. */
interface Slice {
  own: number;
  others: number;
}

/** One rate, as several processes count it. */
export class RateReplica implements CounterSource {
  readonly #parts: RateReplicaParts;
  readonly #slices = new Map<number, Slice>();
  #counted: number | undefined;

  constructor(counters: RateReplicaParts) {
    this.#parts = counters;
  }

  /** The slices that may still change; at first all that count. */
  *counters(wall: number): Iterable<ReplicatedCounter> {
    const { key, sliceMs, slices, isWanted, counted } = this.#parts;
    if (!isWanted()) return;
    const present = Math.floor(wall / sliceMs);
    const isFirst = this.#counted === undefined;
    const taken = counted();
    this.#slice(present).own += taken - (this.#counted ?? taken); // what was taken before it was wanted is past
    this.#counted = taken;
    for (const number of this.#slices.keys()) if (number < present - slices) this.#slices.delete(number);
    for (let number = present - (isFirst ? slices : 1); number <= present; number++) {
      const slice = this.#slice(number);
      yield {
        key: `rate ${key} ${number}`,
        expiresAt: (number + slices + 2) * sliceMs,
        own: slice.own,
        isPresent: true,
        apply: (others) => this.#apply(number, slice, others),
      };
    }
  }

  #slice(number: number): Slice {
    const known = this.#slices.get(number);
    if (known !== undefined) return known;
    const made = { own: 0, others: 0 };
    this.#slices.set(number, made);
    return made;
  }

  /** What was taken in a slice that is over counts from its end: forgetting is rather too late than too early. */
  #apply(number: number, slice: Slice, others: number): void {
    const { sliceMs, clock, addOthers } = this.#parts;
    const change = others - slice.others;
    slice.others = others;
    if (change === 0) return;
    const agoMs = Math.max(0, clock.now() - (number + 1) * sliceMs);
    addOthers(clock.monotonic() - agoMs, change);
  }
}
