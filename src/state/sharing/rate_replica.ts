/**
 * A rate counted by several processes: a sliding window of slices of wall-clock time. Each process adds to a counter
 * per slice, and reads what other processes added.
 * @module
 */
import type { CounterGroup, RateReplicaParts, ReplicatedCounter } from "../counters/shared_counters.ts";

/** Known counts of a slice. */
interface Slice {
  own: number;
  others: number;
}

/** The replicated counters of one rate. */
export class RateReplica implements CounterGroup {
  readonly #parts: RateReplicaParts;
  readonly #slices = new Map<number, Slice>();
  #counted: number | undefined;

  constructor(counters: RateReplicaParts) {
    this.#parts = counters;
  }

  /** Returns the slices that may still change; initially all slices of the window. */
  *counters(wallTimeMs: number): Iterable<ReplicatedCounter> {
    const { key, sliceMs, slices, isWanted, counted } = this.#parts;
    if (!isWanted()) return;
    const present = Math.floor(wallTimeMs / sliceMs);
    const isFirst = this.#counted === undefined;
    const taken = counted();
    this.#slice(present).own += taken - (this.#counted ?? taken); // usage before replication is not reported
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

  /**
   * Applies other processes' part of a slice. An ended slice counts from its end, so that it expires late rather than
   * early.
   */
  #apply(number: number, slice: Slice, others: number): void {
    const { sliceMs, clock, addOthers } = this.#parts;
    const change = others - slice.others;
    slice.others = others;
    if (change === 0) return;
    const agoMs = Math.max(0, clock.now() - (number + 1) * sliceMs);
    addOthers(clock.monotonic() - agoMs, change);
  }
}
