/**
 * Round robin: each model's turn, in proportion to weight.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { weightOf } from "./_headroom.ts";
import { Turns } from "./_turns.ts";

/**
 * Smooth weighted round robin. At any moment each model has had its share by weight, give or take a turn, and heavy
 * ones do not come in bursts. An absent model is owed nothing for its absence: it comes back to its usual share,
 * with neither a burst nor a lost turn, and a half-open one has its turns like any other. Failovers are dealt out
 * evenly in an account of their own, and leave the cycle as it was.
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
    return this.#turnsOf(context).take(candidates, context, weightOf);
  }

  score(candidate: ModelView, context: SelectionContext): number {
    return this.#turnsOf(context).score(candidate, context, weightOf(candidate) > 0);
  }

  #turnsOf({ tried }: SelectionContext): Turns {
    return tried.size === 0 ? this.#turns : this.#failovers;
  }
}
