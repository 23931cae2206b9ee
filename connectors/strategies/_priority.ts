/**
 * The base order of all strategies: `model_priority`, then `provider_priority`, then configuration order.
 * @module
 */
import type { ModelView, SelectionContext } from "../../src/contracts/rotation.ts";

/** Above every priority. */
export const abovePriority = 3;
/** Below every priority. */
export const belowPriority = -2;

/**
 * The priority of a model: in (1, 2] if `model_priority` contains it, in (0, 1] if `provider_priority` contains its
 * provider, otherwise 0.
 */
export function priority(view: ModelView, context: SelectionContext): number {
  const model = context.modelPriority.indexOf(view.name);
  if (model !== -1) return 1 + 1 / (1 + model);
  const provider = context.providerPriority.indexOf(view.provider);
  return provider === -1 ? 0 : 1 / (1 + provider);
}

/**
 * The candidate with the highest priority. Ties are broken by configuration order.
 *
 * @param candidates The candidates, in configuration order.
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
