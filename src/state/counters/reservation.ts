/**
 * Reservations: what a call needs of limits, from its admission to its end.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { AdmissionDenial } from "./admission_denial.ts";
import type { CounterRequest } from "./replicated_counter.ts";
import type { Replication, SharedCounters } from "./shared_counters.ts";
import type { Usage } from "./usage.ts";

/** Retry delay for a request denied because other processes have reserved what it needs, ms. */
export const takenElsewhereMs = 1_000;

/** What is known of a call when it has ended; unknown amounts count as reserved. */
export type Settlement = Pick<Usage, "tokens" | "costNanoUsd">;

/** What one limit has reserved. */
export interface ReservedPart {
  /** Returns what it requests of the counters that several processes share. */
  counterRequests(): readonly CounterRequest[];
  /** Shows it to other processes, after the shared counters have granted it, or hides it again. */
  confirm(isConfirmed?: boolean): void;
  /**
   * Settles it at what was used. Later calls are ignored.
   *
   * @param now Monotonic ms.
   */
  settle(actual: Settlement, now: number): void;
}

/** Dependencies of a {@linkcode Reservation}. */
interface ReservationParts {
  readonly clock: Pick<Clock, "monotonic">;
  /** Replicates the counters to other processes. */
  readonly sharedCounters: SharedCounters;
}

/** What is reserved of several limits: granted, confirmed and settled together. It ends once. */
export class Reservation {
  readonly #reserved: readonly ReservedPart[];
  readonly #parts: ReservationParts;
  /** Number of the lease under which the shared counters have granted it. */
  #lease: number | undefined;
  /** Whether it has been settled. */
  protected isOver = false;

  constructor(reserved: readonly ReservedPart[], parts: ReservationParts) {
    this.#reserved = reserved;
    this.#parts = parts;
  }

  /** Returns what it requests of the counters that several processes share. */
  counterRequests(): readonly CounterRequest[] {
    return this.#reserved.flatMap((part) => part.counterRequests());
  }

  /** Confirms it, after the shared counters have granted it. */
  confirm(): void {
    this.#lease = this.#parts.sharedCounters.replication?.lease.number;
    this.#show(true);
  }

  /**
   * Makes sure that it still holds, before anything is sent. A process that was suspended may have lost it to other
   * processes; then it is reserved again.
   *
   * @returns Undefined when it holds; otherwise a promise of the denial, or of undefined.
   */
  hold(): Promise<AdmissionDenial | undefined> | undefined {
    const { replication } = this.#parts.sharedCounters;
    if (replication === undefined || this.#lease === undefined || this.#isUnder(replication)) return undefined;
    return this.#reserveAgain(replication);
  }

  /**
   * Settles it at what was used.
   *
   * @param now Monotonic ms.
   */
  settle(actual: Settlement, now: number = this.#parts.clock.monotonic()): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const part of this.#reserved) part.settle(actual, now);
  }

  /** Whether the lease under which it was granted has certainly not ended. */
  #isUnder({ lease }: Replication): boolean {
    return lease.isCertain && lease.number === this.#lease;
  }

  async #reserveAgain(replication: Replication): Promise<AdmissionDenial | undefined> {
    if (this.counterRequests().length > 0) {
      await replication.renewLease();
      if (this.#isUnder(replication)) return undefined;
      this.#show(false);
      await replication.refresh(); // what other calls of this process have sent counts first
      const confirm = () => this.#show(true);
      const reason = await replication.reserve(this.counterRequests(), confirm);
      if (reason !== undefined) return { reason, until: this.#parts.clock.monotonic() + takenElsewhereMs };
      confirm(); // also when the store is unavailable: the next sync reports it
    }
    this.#lease = replication.lease.number;
    return undefined;
  }

  #show(isConfirmed: boolean): void {
    if (this.isOver) return;
    for (const part of this.#reserved) part.confirm(isConfirmed);
  }
}
