/**
 * Load balanced: requests are shared out evenly, or in proportion to limits.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { leftShare, perMinute, weightOf } from "./_headroom.ts";
import { type Share, Turns } from "./_turns.ts";

/**
 * Turns, see {@linkcode Turns}. `absolute`: every model has the same number of them, times its weight, whatever its
 * limits. `relative`: in proportion to what each model's limit allows in a minute, times its weight. There requests are
 * compared, or tokens where no candidate's request limit is known; a model whose limit is not known counts as the mean
 * of the others; with none known, turns go by weight. A model with nothing left has no turn while another has.
 * Failovers have an account of their own.
 */
export const loadBalanced: Connector<"strategy"> = {
  id: "mesh.load-balanced.v1",
  kind: "strategy",
  create: () => new LoadBalanced(),
};

class LoadBalanced implements SelectionStrategy {
  readonly #turns = new Turns();
  readonly #failovers = new Turns();
  /** Which of the limits this choice goes by. */
  #unit: "requests" | "tokens" = "requests";
  /** What a model of unknown limit counts as in this choice. */
  #usual = 1;
  readonly #proportional: Share = (candidate) =>
    hasShare(candidate) ? weightOf(candidate) * (perMinute(candidate[this.#unit]) ?? this.#usual) : 0;

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    return this.#turnsOf(context).take(candidates, context, this.#shareOf(candidates, context));
  }

  score(candidate: ModelView, context: SelectionContext): number {
    return this.#turnsOf(context).score(candidate, context, hasShare(candidate));
  }

  #shareOf(candidates: readonly ModelView[], { balanceMode }: SelectionContext): Share {
    if (balanceMode !== "relative") return even;
    if (!this.#compareBy("requests", candidates)) this.#compareBy("tokens", candidates);
    return this.#proportional;
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

const even: Share = (candidate) => hasShare(candidate) ? weightOf(candidate) : 0;

function hasShare(view: ModelView): boolean {
  return weightOf(view) > 0 && leftShare(view) > 0;
}
