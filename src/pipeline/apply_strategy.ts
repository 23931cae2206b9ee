/**
 * Step 5: selection of one candidate.
 * @module
 */
import type { ModelView, SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";
import type { Hub } from "../observe/hub.ts";
import type { Member, Pool } from "../registry/registry.ts";
import type { ModelState } from "../state/model_state.ts";

/**
 * Applies the pool's strategy, then its fallback, else selects the first candidate. A strategy that throws does not
 * fail the request.
 *
 * @param candidates At least one.
 * @param pool The pool, with its strategy.
 * @param context The facts available to the strategy.
 * @param hub Receives a trace if the strategy fails.
 */
export function applyStrategy(
  candidates: readonly Member[],
  pool: Pool,
  context: SelectionContext,
  hub: Hub,
): Member {
  const views = candidates.map(stateOf);
  const chosen = selected(pool.strategy, views, context, hub) ?? selected(pool.fallback, views, context, hub);
  const index = views.indexOf(chosen as ModelState);
  return candidates[Math.max(0, index)]!;
}

function stateOf({ state }: Member): ModelState {
  return state;
}

function selected(
  strategy: SelectionStrategy | undefined,
  views: readonly ModelState[],
  context: SelectionContext,
  hub: Hub,
): ModelView | undefined {
  try {
    return strategy?.select(views, context);
  } catch {
    hub.trace({ severity: "error", component: "pool", message: `The strategy of the pool "${context.pool}" failed` });
  }
}
