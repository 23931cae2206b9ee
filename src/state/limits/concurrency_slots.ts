/**
 * Requests at once that several processes send with one key to one model.
 * @module
 */
import type { CounterRequest, CounterSource, ReplicatedCounter } from "../replication/counter_replicator.ts";

/** The sum is kept for so long after its last change, ms. */
const lifeMs = 86_400_000;

/** The slots of one limit. A slot is leased: that of a process that ends is free. */
export class ConcurrencySlots implements CounterSource {
  readonly #key: string;
  readonly #limit: number;
  #own = 0;
  #others = 0;
  /** There where other processes take slots, too: has them know of one that is free. */
  #report: (() => void) | undefined;

  /**
   * @param key Whose they are.
   * @param limit How many there are.
   */
  constructor(key: string, limit: number) {
    this.#key = key;
    this.#limit = limit;
  }

  /** Slots that other processes have taken. */
  get others(): number {
    return this.#others;
  }

  /** Other processes take slots, too. */
  startReplication(report: () => void): void {
    this.#report = report;
  }

  /** What of them other processes have to know. */
  *counters(wall: number): Iterable<ReplicatedCounter> {
    yield this.#counter(wall);
  }

  /** What a request takes of the slots of all processes. */
  request(wall: number): CounterRequest {
    return { counter: this.#counter(wall), amount: 1, limit: this.#limit, isLeased: true, reason: "rate_limited" };
  }

  /** A request has a slot. */
  take(): void {
    this.#own++;
  }

  /** Its slot is free. */
  release(): void {
    this.#own--;
    this.#report?.();
  }

  #counter(wall: number): ReplicatedCounter {
    return {
      key: `concurrent ${this.#key}`,
      expiresAt: wall + lifeMs,
      own: this.#own,
      leased: this.#own,
      isPresent: true,
      apply: (others) => this.#others = others,
    };
  }
}
