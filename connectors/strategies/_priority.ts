/**
 * The order all strategies start from: `model_priority`, then `provider_priority`, then the configuration's.
 * @module
 */
import type { ModelView, SelectionContext } from "../../src/contracts/rotation.ts";

/** More than any priority. */
export const abovePriority = 3;
/** Less than any priority. */
export const belowPriority = -2;

/**
 * How much a model is preferred: over 1 and up to 2 where `model_priority` names it, over 0 and up to 1 where
 * `provider_priority` names its provider, else 0.
 *
 * @param view The model.
 * @param context The priorities.
 */
export function priority(view: ModelView, context: SelectionContext): number {
  const model = context.modelPriority.indexOf(view.name);
  if (model !== -1) return 1 + 1 / (1 + model);
  const provider = context.providerPriority.indexOf(view.provider);
  return provider === -1 ? 0 : 1 / (1 + provider);
}

/**
 * The candidate of highest priority; of several, the one the configuration names first.
 *
 * @param candidates In the configuration's order.
 * @param context The priorities.
 */
export function preferred(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
  let best: ModelView | undefined;
  let highest = -1;
  for (const candidate of candidates) {
    const its = priority(candidate, context);
    if (its <= highest) continue;
    best = candidate;
    highest = its;
  }
  return best;
}
