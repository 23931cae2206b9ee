/**
 * Step 5: which of the candidates is asked.
 * @module
 */
import type { SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";
import type { Hub } from "../observe/hub.ts";
import type { Member, Pool } from "../registry/registry.ts";

/**
 * Asks the pool's strategy, then its fallback; when neither chooses, the first candidate is taken. A strategy
 * that throws costs no request.
 *
 * @param candidates At least one.
 * @param pool Its strategy decides.
 * @param context What it may look at.
 * @param hub Takes the trace of a strategy that fails.
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
