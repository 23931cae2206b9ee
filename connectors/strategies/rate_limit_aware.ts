/**
 * Rate-limit aware: one model serves all requests until it approaches its limits.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionOutcome, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { CurrentModel } from "./_current_model.ts";
import { leftShare } from "./_headroom.ts";
import { highestMerit, type Merit } from "./_highest_merit.ts";
import { priority } from "./_priority.ts";

/** Rounding precision: fractions are compared in billionths, so that 1 - 0.9 reaches a threshold of 0.1. */
const precision = 1e9;
/** Breaks ties between headrooms without outweighing any other difference. */
const tieBreak = 1e-10;

/**
 * Stays with a model until the used fraction of its request or token limit reaches `rate_limit.threshold`, then
 * switches to the best model by priority that is below its threshold. If all are above, each request goes to the model
 * with the most headroom, without switching. It does not switch back by itself: a model whose headroom recovers is
 * considered when the current one reaches the threshold. Failures, half-open models and requests with routing
 * constraints are handled as by stick-until-failure. It does not change the state of any model.
 */
export const rateLimitAware: Connector<"strategy"> = {
  id: "mesh.rate-limit-aware.v1",
  kind: "strategy",
  create: () => new RateLimitAware(),
};

class RateLimitAware implements SelectionStrategy {
  readonly #current = new CurrentModel();

  get current(): string | undefined {
    return this.#current.name;
  }

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    const current = this.#current.among(candidates);
    if (current !== undefined && !isOverThreshold(current, context)) return current;
    const chosen = highestMerit(this.#current.others(candidates), context, merit);
    if (chosen !== undefined && !isOverThreshold(chosen, context)) this.#current.take(chosen, context);
    return chosen;
  }

  score(candidate: ModelView, context: SelectionContext): number {
    if (isOverThreshold(candidate, context)) return -usedShare(candidate) + tieBreak * priority(candidate, context);
    return this.#current.rank(candidate) ?? priority(candidate, context);
  }

  observe(outcome: SelectionOutcome): void {
    this.#current.observe(outcome);
  }
}

/** All models below the threshold have equal merit. */
const merit: Merit = (candidate, context) => isOverThreshold(candidate, context) ? -usedShare(candidate) : 1;

function isOverThreshold(view: ModelView, { threshold = 0.8 }: SelectionContext): boolean {
  return usedShare(view) >= threshold;
}

function usedShare(view: ModelView): number {
  return Math.round((1 - leftShare(view)) * precision) / precision;
}
