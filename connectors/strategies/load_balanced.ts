/**
 * Load balanced: requests are distributed evenly, or in proportion to limits.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { getWeight, leftShare, perMinute } from "./_headroom.ts";
import { type Share, Turns } from "./_turns.ts";

/**
 * Weighted round-robin, see {@linkcode Turns}. `absolute`: shares are the weights, whatever the limits. `relative`:
 * shares are the limits per minute times the weights. It compares request limits, or token limits if no candidate has a
 * known request limit. A model without a known limit counts as the mean of the others; without any known limits, shares
 * are the weights. A model without headroom is selected only if no candidate has any. Failovers have separate balances.
 */
export const loadBalanced: Connector<"strategy"> = {
  id: "mesh.load-balanced.v1",
  kind: "strategy",
  create: () => new LoadBalanced(),
};

class LoadBalanced implements SelectionStrategy {
  readonly #turns = new Turns();
  readonly #failovers = new Turns();
  /** The kind of limit that this selection compares. */
  #unit: "requests" | "tokens" = "requests";
  /** The limit assumed for models without a known one in this selection. */
  #usual = 1;
  readonly #proportional: Share = (candidate) =>
    hasShare(candidate) ? getWeight(candidate) * (perMinute(candidate[this.#unit]) ?? this.#usual) : 0;

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    return this.#getTurns(context).take(candidates, context, this.#computeShare(candidates, context));
  }

  score(candidate: ModelView, context: SelectionContext): number {
    return this.#getTurns(context).score(candidate, context, hasShare(candidate));
  }

  #computeShare(candidates: readonly ModelView[], { balanceMode }: SelectionContext): Share {
    if (balanceMode !== "relative") return even;
    if (!this.#compareBy("requests", candidates)) this.#compareBy("tokens", candidates);
    return this.#proportional;
  }

  /** Whether any candidate has a known limit of this kind. */
  #compareBy(unit: "requests" | "tokens", candidates: readonly ModelView[]): boolean {
    let count = 0;
    let sum = 0;
    for (const candidate of candidates) {
      const rate = perMinute(candidate[unit]);
      if (rate === undefined) continue;
      count++;
      sum += rate;
    }
    this.#unit = unit;
    this.#usual = sum > 0 ? sum / count : 1;
    return count > 0;
  }

  #getTurns({ tried }: SelectionContext): Turns {
    return tried.size === 0 ? this.#turns : this.#failovers;
  }
}

const even: Share = (candidate) => hasShare(candidate) ? getWeight(candidate) : 0;

function hasShare(view: ModelView): boolean {
  return getWeight(view) > 0 && leftShare(view) > 0;
}
