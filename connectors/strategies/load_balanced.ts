/**
 * Load balanced: requests go where the limits leave room.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { Evenly } from "./_evenly.ts";
import { leftShare, perMinute, weightOf } from "./_headroom.ts";
import { type Share, Turns } from "./_turns.ts";

/**
 * `absolute`: the next request goes to the model with the largest share of its limits left, and evenly among those
 * that have about as much, see {@linkcode Evenly}. `relative`: turns in proportion to what each model's limit allows
 * in a minute, times its weight, see {@linkcode Turns}. There requests are compared, or tokens where no candidate's
 * request limit is known; a model whose limit is not known counts as the mean of the others; with none known, turns
 * go by weight. A model with nothing left has no turn while another has. Failovers have an account of their own.
 */
export const loadBalanced: Connector<"strategy"> = {
  id: "mesh.load-balanced.v1",
  kind: "strategy",
  create: () => new LoadBalanced(),
};

class LoadBalanced implements SelectionStrategy {
  readonly #evenly = new Evenly();
  readonly #turns = new Turns();
  readonly #failovers = new Turns();
  /** Which of the limits this choice goes by. */
  #unit: "requests" | "tokens" = "requests";
  /** What a model of unknown limit counts as in this choice. */
  #usual = 1;
  readonly #share: Share = (candidate) =>
    hasShare(candidate) ? weightOf(candidate) * (perMinute(candidate[this.#unit]) ?? this.#usual) : 0;

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    if (context.balanceMode !== "relative") return this.#evenly.take(candidates, context);
    if (!this.#compareBy("requests", candidates)) this.#compareBy("tokens", candidates);
    return this.#turnsOf(context).take(candidates, context, this.#share);
  }

  score(candidate: ModelView, context: SelectionContext): number {
    if (context.balanceMode !== "relative") return this.#evenly.score(candidate, context);
    return this.#turnsOf(context).score(candidate, context, hasShare(candidate));
  }

  /** Whether any candidate has such a limit. */
  #compareBy(unit: "requests" | "tokens", candidates: readonly ModelView[]): boolean {
    let known = 0;
    let sum = 0;
    for (const candidate of candidates) {
      const rate = perMinute(candidate[unit]);
      if (rate === undefined) continue;
      known++;
      sum += rate;
    }
    this.#unit = unit;
    this.#usual = sum > 0 ? sum / known : 1;
    return known > 0;
  }

  #turnsOf({ tried }: SelectionContext): Turns {
    return tried.size === 0 ? this.#turns : this.#failovers;
  }
}

function hasShare(view: ModelView): boolean {
  return weightOf(view) > 0 && leftShare(view) > 0;
}
