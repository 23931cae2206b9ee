/**
 * Reservations for a batch, in every budget that applies.
 * @module
 */
import type { Budget, Reservation } from "../state/limits/budget.ts";
import type { CounterRequest } from "../state/replication/counter_replicator.ts";

/** A reservation in one budget. */
interface ReservedMoney {
  readonly budget: Budget;
  readonly reservation: Reservation;
}

/** The reservations of an unfinished batch. */
export class BudgetShare {
  readonly #parts: readonly ReservedMoney[];

  constructor(parts: readonly ReservedMoney[]) {
    this.#parts = parts;
  }

  /** Returns what it requests of the shared counters. */
  counterRequests(): readonly CounterRequest[] {
    return this.#parts.flatMap(({ budget, reservation }) => budget.counterRequests(reservation));
  }

  /** Confirms the reservations, after the shared counters have granted them. */
  confirm(): void {
    for (const { budget, reservation } of this.#parts) budget.confirm(reservation);
  }

  /** Settles the reservations; with undefined, at the reserved amount. */
  settle(costNanoUsd: number | undefined): void {
    for (const { budget, reservation } of this.#parts) budget.settle(reservation, costNanoUsd);
  }
}
