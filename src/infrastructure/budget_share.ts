/**
 * Reservations for a batch, in every budget that applies.
 * @module
 */
import type { Budget, Reservation } from "../state/limits/budget.ts";
import type { CounterRequest, Replication } from "../state/counters/counter_replicator.ts";
import { reserveAgain } from "../state/counters/reserve_again.ts";

/** A reservation in one budget. */
interface ReservedMoney {
  readonly budget: Budget;
  readonly reservation: Reservation;
}

/** The reservations of an unfinished batch. */
export class BudgetShare {
  readonly #parts: readonly ReservedMoney[];
  readonly #replication: Replication | undefined;
  /** Number of the lease under which the shared counters have granted it. */
  #lease: number | undefined;

  /** @param replication Replicates the budgets to other processes. */
  constructor(parts: readonly ReservedMoney[], replication: Replication | undefined) {
    this.#parts = parts;
    this.#replication = replication;
  }

  /** Returns what it requests of the shared counters. */
  counterRequests(): readonly CounterRequest[] {
    return this.#parts.flatMap(({ budget, reservation }) => budget.counterRequests(reservation));
  }

  /** Confirms the reservations, after the shared counters have granted them. */
  confirm(): void {
    this.#lease = this.#replication?.lease.number;
    this.#show(true);
  }

  /** Makes sure before the batch is submitted that no other process has taken what it reserved. */
  async hold(): Promise<boolean> {
    if (this.#replication === undefined || this.#lease === undefined) return true;
    const denied = await reserveAgain(this.#replication, this.#lease, {
      requests: () => this.counterRequests(),
      confirm: (isConfirmed) => this.#show(isConfirmed),
    });
    this.#lease = this.#replication.lease.number;
    return denied === undefined;
  }

  #show(isConfirmed: boolean): void {
    for (const { budget, reservation } of this.#parts) budget.confirm(reservation, isConfirmed);
  }

  /** Settles the reservations; with undefined, at the reserved amount. */
  settle(costNanoUsd: number | undefined): void {
    for (const { budget, reservation } of this.#parts) budget.settle(reservation, costNanoUsd);
  }
}
