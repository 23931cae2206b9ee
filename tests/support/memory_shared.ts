/**
 * In-memory shared storage, for tests that stop time, delay responses and lose data.
 * @module
 */
import type { Shared, SharedChange, SharedGrant, SharedReservation, SharedSum } from "../../src/contracts/storage.ts";

/** A store. Each user of it in a test represents a process. */
export class MemoryShared implements Shared {
  /** Counters by key. */
  readonly sums: Map<string, number> = new Map();
  /** Responses wait for this promise. */
  gate: Promise<void> = Promise.resolve();
  /** Whether every call fails. */
  isUnavailable = false;

  async add(changes: readonly SharedChange[]): Promise<readonly number[]> {
    this.#check();
    const sums = changes.map((change) => this.#set(change, this.#sum(change) + change.by));
    await this.gate;
    return sums;
  }

  async reserve(claims: readonly SharedReservation[]): Promise<SharedGrant> {
    this.#check();
    const isGranted = claims.every((claim) => this.#sum(claim) + claim.amount <= claim.limit);
    const sums = claims.map((claim) => this.#set(claim, this.#sum(claim) + (isGranted ? claim.amount : 0)));
    await this.gate;
    return { isGranted, sums };
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
