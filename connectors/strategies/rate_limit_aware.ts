/**
 * Rate-limit aware: one model serves all until it comes near its limits.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionOutcome, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { CurrentModel } from "./_current_model.ts";
import { leftShare } from "./_headroom.ts";
import { fittest, type Merit } from "./_fittest.ts";
import { priority } from "./_priority.ts";

/** Shares are counted in billionths, so that 1 - 0.9 reaches a threshold of 0.1. */
const precision = 1e9;
/** Decides between equal headrooms, and never more than that. */
const tieBreak = 1e-10;

/**
 * Stays with its model until the used share of the model's requests or tokens reaches `rate_limit.threshold`, then
 * takes the best by priority that is under it and stays with that. When all are over, each request goes to the model
 * with most headroom, and it does not become the one that is stayed with. It does not go back by itself: a model whose
 * headroom returns has its chance when the current one reaches the threshold. Failures, half-open models and requests
 * that choose among the models themselves are treated as by stick-until-failure. No model changes its state.
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
    if (current !== undefined && !isOver(current, context)) return current;
    const chosen = fittest(this.#current.others(candidates), context, merit);
    if (chosen !== undefined && !isOver(chosen, context)) this.#current.take(chosen, context);
    return chosen;
  }

  score(candidate: ModelView, context: SelectionContext): number {
    if (isOver(candidate, context)) return -usedShare(candidate) + tieBreak * priority(candidate, context);
    return this.#current.rank(candidate) ?? priority(candidate, context);
  }

  observe(outcome: SelectionOutcome): void {
    this.#current.observe(outcome);
  }
}

/** Those under the threshold are equal. */
const merit: Merit = (candidate, context) => isOver(candidate, context) ? -usedShare(candidate) : 1;

function isOver(view: ModelView, { threshold = 0.8 }: SelectionContext): boolean {
  return usedShare(view) >= threshold;
}

function usedShare(view: ModelView): number {
  return Math.round((1 - leftShare(view)) * precision) / precision;
}
