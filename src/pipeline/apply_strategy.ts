/**
 * Step 5: selection of one candidate.
 * @module
 */
import type { SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";
import type { Hub } from "../observe/hub.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { findLeadingTier } from "../rotation/tiers.ts";
import { callNow } from "../util/call_now.ts";

/**
 * Applies the pool's strategy to the leading priority tier of the candidates, then its fallback, else selects the first
 * candidate. A strategy that throws does not fail the request.
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
  const tier = findLeadingTier(candidates.map(({ state }) => state), context, pool);
  const selectWith = (strategy: SelectionStrategy | undefined) => {
    try {
      return strategy && callNow(() => strategy.select(tier.candidates, context));
    } catch {
      hub.trace({ severity: "error", component: "pool", message: `The strategy of the pool "${pool.name}" failed` });
    }
  };
  const [first] = tier.candidates;
  const selected = selectWith(tier.strategy) ?? selectWith(tier.fallback);
  const chosen = tier.candidates.find((state) => state === selected) ?? first;
  return candidates.find(({ state }) => state === chosen)!;
}
