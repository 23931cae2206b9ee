/**
 * The strategy that stands in once a pool's lists of priority are exhausted.
 * @module
 */
import type { ModelView, SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";
import { policiesIn } from "./policy.ts";

/** A strategy, and the one asked when it chooses no model. */
export interface BackedUp {
  readonly strategy: SelectionStrategy;
  readonly fallback: SelectionStrategy;
}

/**
 * Has a strategy choose no model once no candidate is on a list of priority that there is.
 *
 * @param strategy The pool's.
 * @param fallback The one that stands in.
 */
export function withFallback(strategy: SelectionStrategy, fallback: SelectionStrategy): BackedUp {
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

/**
 * Whether there are lists of priority, and no model on them is left.
 *
 * @param views The models that are left.
 * @param context The lists.
 */
export function isExhausted(views: readonly ModelView[], context: SelectionContext): boolean {
  const { modelPriority, providerPriority } = context;
  return modelPriority.length + providerPriority.length > 0 &&
    !views.some(({ name, provider }) => modelPriority.includes(name) || providerPriority.includes(provider));
}
