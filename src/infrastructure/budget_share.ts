/**
 * Money that is reserved for a batch, in every budget that it has to fit in.
 * @module
 */
import type { Budget, Reservation } from "../state/limits/budget.ts";
import type { CounterRequest } from "../state/replication/counter_replicator.ts";

/** Money of one budget. */
interface ReservedMoney {
  readonly budget: Budget;
  readonly reservation: Reservation;
}

/** What is reserved for a batch under way. */
export class BudgetShare {
  readonly #parts: readonly ReservedMoney[];

  constructor(parts: readonly ReservedMoney[]) {
    this.#parts = parts;
  }

  /** What it takes of sums that several processes make together. */
  counterRequests(): readonly CounterRequest[] {
    return this.#parts.flatMap(({ budget, reservation }) => budget.counterRequests(reservation));
  }

  /** There is room for it in what other processes have left. */
  confirm(): void {
    for (const { budget, reservation } of this.#parts) budget.confirm(reservation);
  }

  /** Ends the reservation; undefined: at what was reserved. */
  settle(costNano: number | undefined): void {
    for (const { budget, reservation } of this.#parts) budget.settle(reservation, costNano);
  }
}
