/**
 * Limits that not every mesh has: pools of API keys, budgets, quotas, error rates. What they consist of is imported once
 * settings ask for one: most pages have none.
 * @module
 */
import type { DeactivationSettings, ProviderEntry, RoutingSettings, Settings } from "../../config/settings/settings.ts";
import type { RateLimits } from "../../contracts/provider.ts";
import type { ApiKeyPool } from "./api_key_pool.ts";
import type { Budget } from "./budget.ts";
import type { FailureWindow } from "./failure_window.ts";
import type { Quota } from "./quota.ts";
import { type ModelRateLimiter, RateLimiter } from "./rate_limiter.ts";

type PoolModules = typeof import("./api_key_pool.ts") & typeof import("./pooled_rate_limiter.ts");
type LimitModules = typeof import("./budget.ts") & typeof import("./failure_window.ts") & typeof import("./quota.ts");

let poolModules: PoolModules | undefined;
let limitModules: LimitModules | undefined;

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
  if (poolModules === undefined && providers.some(hasSeveralKeys)) {
    const [pool, limiter] = await Promise.all([import("./api_key_pool.ts"), import("./pooled_rate_limiter.ts")]);
    poolModules = { ...pool, ...limiter };
  }
  if (limitModules === undefined && (isFollowed || isLimited(settings))) {
    const imported = [import("./budget.ts"), import("./failure_window.ts"), import("./quota.ts")] as const;
    const [budget, failures, quota] = await Promise.all(imported);
    limitModules = { ...budget, ...failures, ...quota };
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

/**
 * Makes a provider's pool.
 *
 * @param provider With its keys.
 * @returns Undefined for one key: there is nothing to rotate over.
 */
export function newKeyPool(provider: ProviderEntry): ApiKeyPool | undefined {
  return poolModules && hasSeveralKeys(provider)
    ? new poolModules.ApiKeyPool(provider.id, provider.apiKeys)
    : undefined;
}

/**
 * Makes what counts the calls of a model, by each key where there are several.
 *
 * @param keys The provider's pool, if it has one.
 * @param model The model's id, as its provider knows it.
 * @param limits What its vendor allows, for each key.
 */
export function newRateLimiter(
  keys: ApiKeyPool | undefined,
  model: string,
  limits: RateLimits | undefined,
): ModelRateLimiter {
  return keys === undefined ? new RateLimiter(limits) : new poolModules!.PooledRateLimiter(keys, model, limits);
}

/** Makes a budget; undefined before budgets are loaded. */
export function newBudget(...parts: ConstructorParameters<typeof Budget>): Budget | undefined {
  return limitModules && new limitModules.Budget(...parts);
}

/** Makes a quota; undefined before quotas are loaded, and where nothing can be limited. */
export function newQuota(...parts: ConstructorParameters<typeof Quota>): Quota | undefined {
  return limitModules && new limitModules.Quota(...parts);
}

/** Makes what an error rate is read from; undefined before error rates are loaded. */
export function newFailureWindow(...parts: ConstructorParameters<typeof FailureWindow>): FailureWindow | undefined {
  return limitModules && new limitModules.FailureWindow(...parts);
}

function hasSeveralKeys({ apiKeys }: ProviderEntry): boolean {
  return apiKeys.length > 1;
}
