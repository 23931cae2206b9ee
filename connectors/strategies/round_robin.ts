/**
 * Round robin: everybody's turn, in proportion to weight.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { priority } from "./_priority.ts";

/** Turns are counted in binary fractions; differences this small are none. */
const precision = 1e9;
/** Decides between equals, and never more than that. */
const tieBreak = 1e-6;

/**
 * Smooth weighted round robin. Each turn is shared out among the candidates by weight, and goes to the one that is
 * owed most: at any moment each has had its share, give or take a turn, and heavy ones do not come in bursts. An
 * absent model is owed nothing for its absence: it comes back to its usual share, with neither a burst nor a lost
 * turn, and one on trial has its turns like any other. Failovers are dealt out evenly in an account of their own,
 * and leave the cycle as it was.
 */
export const roundRobin: Connector<"strategy"> = {
  id: "mesh.round-robin.v1",
  kind: "strategy",
  create: () => new RoundRobin(),
};

/** The turns each model is owed, by name; they add up to nought. */
type Account = Map<string, number>;

class RoundRobin implements SelectionStrategy {
  readonly #turns: Account = new Map();
  readonly #failovers: Account = new Map();

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    const account = this.#accountOf(context);
    let chosen: ModelView | undefined;
    let highest = -Infinity;
    let total = 0;
    for (const candidate of candidates) {
      total += candidate.weight;
      const score = this.score(candidate, context);
      if (score <= highest) continue;
      chosen = candidate;
      highest = score;
    }
    for (const candidate of candidates) {
      const turn = candidate === chosen ? 1 : 0;
      account.set(candidate.name, owed(account, candidate) + candidate.weight / total - turn);
    }
    return chosen;
  }

  score(candidate: ModelView, context: SelectionContext): number {
    const turns = Math.round(owed(this.#accountOf(context), candidate) * precision) / precision;
    return turns + tieBreak * priority(candidate, context);
  }

  #accountOf({ tried }: SelectionContext): Account {
    return tried.size === 0 ? this.#turns : this.#failovers;
  }
}

function owed(account: Account, { name }: ModelView): number {
  return account.get(name) ?? 0;
}
