/**
 * Imports what limits consist of, where settings ask for some.
 * @module
 */
import type { DeactivationSettings, RoutingSettings, Settings } from "../../config/settings/settings.ts";
import { hasSeveralKeys, modules } from "./on_demand.ts";

/** What says whether there are limits. */
type LimitSettings = Pick<Settings, "budget" | "defaultBudget" | "defaultRouting" | "pools" | "providers">;

/**
 * Imports what settings ask for. Before that no such limit is made.
 *
 * @param settings With their keys.
 * @param isFollowed Other settings may come later: what they limit counts from now on.
 */
export async function loadLimits(settings: LimitSettings, isFollowed = false): Promise<void> {
  const providers = [...settings.providers.values()];
  if (modules.pools === undefined && providers.some(hasSeveralKeys)) {
    const [pool, limiter] = await Promise.all([import("./api_key_pool.ts"), import("./pooled_rate_limiter.ts")]);
    modules.pools = { ...pool, ...limiter };
  }
  if (modules.limits === undefined && (isFollowed || isLimited(settings))) {
    const imported = [import("./budget.ts"), import("./failure_window.ts"), import("./quota.ts")] as const;
    const [budget, failures, quota] = await Promise.all(imported);
    modules.limits = { ...budget, ...failures, ...quota };
  }
}

function isLimited({ budget, defaultBudget, defaultRouting, pools, providers }: LimitSettings): boolean {
  const routings: readonly RoutingSettings[] = [defaultRouting, ...[...pools.values()].map(({ routing }) => routing)];
  const budgets = [budget, defaultBudget, ...[...pools.values(), ...providers.values()].map((one) => one.budget)];
  return budgets.some((one) => one !== undefined) || routings.some(({ deactivation }) => deactivates(deactivation));
}

function deactivates({ requestLimit, tokenLimit, budgetLimitNano, errorRate }: DeactivationSettings): boolean {
  return (requestLimit ?? tokenLimit ?? budgetLimitNano ?? errorRate) !== undefined;
}
