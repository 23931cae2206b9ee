/**
 * Fallback strategy of a pool, used when the priority lists are exhausted.
 * @module
 */
import type { ModelView, SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";
import { policiesIn } from "./policy.ts";

/** A strategy, and the fallback used when it selects no model. */
interface StrategyWithFallback {
  readonly strategy: SelectionStrategy;
  readonly fallback: SelectionStrategy;
}

/** Wraps a strategy so that it selects no model once no candidate is in a priority list. */
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

/** Whether there are priority lists and none of their models is a candidate. */
export function isExhausted(views: readonly ModelView[], context: SelectionContext): boolean {
  const { modelPriority, providerPriority } = context;
  return modelPriority.length + providerPriority.length > 0 &&
    !views.some(({ name, provider }) => modelPriority.includes(name) || providerPriority.includes(provider));
}
