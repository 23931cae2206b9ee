/**
 * Round robin: models take turns, in proportion to their weights.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { getWeight } from "./_headroom.ts";
import { Turns } from "./_turns.ts";

/**
 * Smooth weighted round-robin. At any moment each model has had its share by weight, within one turn, and models with a
 * high weight are not selected in bursts. An absent model accrues no balance: on return it gets its usual share, with
 * neither a burst nor a lost turn. Half-open models take turns like any other. Failovers have separate balances and do
 * not affect the cycle.
 */
export const roundRobin: Connector<"strategy"> = {
  id: "mesh.round-robin.v1",
  kind: "strategy",
  create: () => new RoundRobin(),
};

class RoundRobin implements SelectionStrategy {
  readonly #turns = new Turns();
  readonly #failovers = new Turns();

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    return this.#getTurns(context).take(candidates, context, getWeight);
  }

  score(candidate: ModelView, context: SelectionContext): number {
    return this.#getTurns(context).score(candidate, context, getWeight(candidate) > 0);
  }

  #getTurns({ tried }: SelectionContext): Turns {
    return tried.size === 0 ? this.#turns : this.#failovers;
  }
}
