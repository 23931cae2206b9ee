/**
 * Step 5: selection of one candidate.
 * @module
 */
import type { SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";
import type { Hub } from "../observe/hub.ts";
import type { Member, Pool } from "../registry/registry.ts";

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
  const views = candidates.map(({ state }) => state);
  const selectWith = (strategy: SelectionStrategy | undefined) => {
    try {
      return strategy?.select(views, context);
    } catch {
      hub.trace({ severity: "error", component: "pool", message: `The strategy of the pool "${pool.name}" failed` });
    }
  };
  const chosen = selectWith(pool.strategy) ?? selectWith(pool.fallback);
  return candidates.find(({ state }) => state === chosen) ?? candidates[0]!;
}
