/**
 * Shared limit of concurrent requests, across processes: per API key and model, or of a client, team, tag or end user.
 * @module
 */
import type { CounterGroup, CounterRequest, ReplicatedCounter } from "../counters/replicated_counter.ts";

/** How long the shared counter is kept after its last change, ms. */
const lifeMs = 86_400_000;

/** The slots of one limit. Slots are leased: when a process ends, its slots are free. */
export class ConcurrencySlots implements CounterGroup {
  /** Number of slots. */
  limit: number;
  readonly #key: string;
  #own = 0;
  #others = 0;
  readonly #onFreed: () => void;
  /** Set while other processes share the slots: reports changes to them. */
  #report: (() => void) | undefined;
  #releases = 0;

  /**
   * @param key Identifies what is limited, such as the API key and the model.
   * @param limit Number of slots.
   * @param onFreed Called when other processes hold fewer of them.
   */
  constructor(key: string, limit: number, onFreed: () => void = () => {}) {
    this.#key = key;
    this.limit = limit;
    this.#onFreed = onFreed;
  }

  /** Number of slots that other processes hold. */
  get others(): number {
    return this.#others;
  }

  /** Begins to share the slots with other processes. */
  startReplication(report: () => void): void {
    this.#report = report;
  }

  /** Returns the counters to replicate. */
  *counters(wallTimeMs: number): Iterable<ReplicatedCounter> {
    yield this.#counter(wallTimeMs);
  }

  /** Number of releases; undefined while a process holds a slot, which it will release. */
  get changes(): number | undefined {
    return this.#own + this.#others > 0 ? undefined : this.#releases;
  }

  /** Returns the request for one slot. */
  request(wallTimeMs: number): CounterRequest {
    return {
      counter: this.#counter(wallTimeMs),
      amount: 1,
      limit: this.limit,
      isLeased: true,
      reason: "rate_limited",
    };
  }

  /** Takes a slot. */
  take(): void {
    this.#own++;
  }

  /** Releases a slot. */
  release(): void {
    this.#own--;
    this.#releases++;
    this.#report?.();
  }

  #counter(wallTimeMs: number): ReplicatedCounter {
    return {
      key: `concurrent ${this.#key}`,
      expiresAt: wallTimeMs + lifeMs,
      own: this.#own,
      leased: this.#own,
      isPresent: true,
      apply: (others) => {
        const isFreed = others < this.#others;
        this.#others = others;
        if (isFreed) this.#onFreed();
      },
    };
  }
}
