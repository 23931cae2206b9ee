/**
 * The strategy that stands in once a pool's lists of priority are exhausted.
 * @module
 */
import type { ModelView, SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";
import { policiesIn } from "./policy.ts";

/** A strategy, and the one asked when it chooses no model. */
interface StrategyWithFallback {
  readonly strategy: SelectionStrategy;
  readonly fallback: SelectionStrategy;
}

/** Has a strategy choose no model once no candidate is on a list of priority that there is. */
export function withFallback(strategy: SelectionStrategy, fallback: SelectionStrategy): StrategyWithFallback {
  return {
    fallback,
    strategy: {
      ...policiesIn(strategy),
      select: (views, context) => isExhausted(views, context) ? undefined : strategy.select(views, context),
      score: (view, context) => strategy.score(view, context),
      get current() {
        return strategy.current;
      },
      observe: (outcome) => strategy.observe?.(outcome),
    },
  };
}

/** Whether lists of priority exist and none of their models is left. */
export function isExhausted(views: readonly ModelView[], context: SelectionContext): boolean {
  const { modelPriority, providerPriority } = context;
  return modelPriority.length + providerPriority.length > 0 &&
    !views.some(({ name, provider }) => modelPriority.includes(name) || providerPriority.includes(provider));
}
