/**
 * In-memory shared storage, for tests that stop time, delay responses and lose data.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Shared, SharedChange, SharedGrant, SharedReservation, SharedSum } from "../../src/contracts/storage.ts";

/** What a process has leased, by counter, and until when. */
interface HeldLease {
  readonly amounts: Map<string, number>;
  until: number;
  isEnded: boolean;
}

/** A store. Each user of it in a test represents a process. */
export class MemoryShared implements Shared {
  /** Counters by key. */
  readonly sums: Map<string, number> = new Map();
  /** Responses wait for this promise. */
  gate: Promise<void> = Promise.resolve();
  /** Whether every call fails. */
  isUnavailable = false;
  readonly #held: HeldLease[] = [];
  /** Whether the last reservation was granted. */
  #isGranted = false;

  async add(changes: readonly SharedChange[]): Promise<readonly number[]> {
    this.#check();
    const sums = changes.map((change) => this.#set(change, this.#sum(change) + change.by));
    await this.gate;
    return sums;
  }

  async reserve(claims: readonly SharedReservation[]): Promise<SharedGrant> {
    this.#check();
    const isGranted = this.#isGranted = claims.every((claim) => this.#sum(claim) + claim.amount <= claim.limit);
    const sums = claims.map((claim) => this.#set(claim, this.#sum(claim) + (isGranted ? claim.amount : 0)));
    await this.gate;
    return { isGranted, sums };
  }

  /**
   * The store as one process sees it, whose leases end when it has not called for a while.
   *
   * @param clock The store's clock.
   * @param leaseMs Lease duration, ms.
   */
  process(clock: Pick<Clock, "monotonic">, leaseMs: number): Shared {
    const held: HeldLease = { amounts: new Map(), until: Infinity, isEnded: false };
    this.#held.push(held);
    let lostLeases = 0;
    const call = async <T>(work: () => Promise<T>): Promise<T> => {
      this.#check();
      const now = clock.monotonic();
      if (held.isEnded) {
        lostLeases++;
        this.#change(held, 1);
      }
      held.until = now + leaseMs;
      for (const reservation of this.#held) {
        if (!reservation.isEnded && reservation.until <= now) this.#change(reservation, -1);
      }
      return await work();
    };
    const lease = (key: string, by: number) => held.amounts.set(key, (held.amounts.get(key) ?? 0) + by);
    return {
      leaseMs,
      get lostLeases() {
        return lostLeases;
      },
      add: (changes) =>
        call(() => {
          for (const { key, leased = 0 } of changes) lease(key, leased);
          return this.add(changes);
        }),
      reserve: (claims) =>
        call(() => {
          const granted = this.reserve(claims);
          const isGranted = this.#isGranted;
          for (const { key, amount, isLeased } of claims) if (isGranted && isLeased) lease(key, amount);
          return granted;
        }),
      publish: () => this.publish(),
      subscribe: () => this.subscribe(),
    };
  }

  #change(held: HeldLease, sign: 1 | -1): void {
    held.isEnded = sign < 0;
    for (const [key, amount] of held.amounts) this.sums.set(key, (this.sums.get(key) ?? 0) + sign * amount);
  }

  publish(): Promise<void> {
    return Promise.resolve();
  }

  subscribe(): Promise<() => Promise<void>> {
    return Promise.resolve(() => Promise.resolve());
  }

  #check(): void {
    if (this.isUnavailable) throw new Error("away");
  }

  #sum({ key, atLeast = -Infinity }: SharedSum): number {
    return Math.max(this.sums.get(key) ?? 0, atLeast);
  }

  #set({ key }: SharedSum, sum: number): number {
    this.sums.set(key, sum);
    return sum;
  }
}
