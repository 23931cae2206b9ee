/**
 * What a batch costs: reserved when it is made, settled when it is over.
 * @module
 */
import type { Budget, Reservation } from "../state/limits/budget.ts";

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

  /** Ends the reservation; undefined: at what was reserved. */
  settle(costNano: number | undefined): void {
    for (const { budget, reservation } of this.#parts) budget.settle(reservation, costNano);
  }
}
