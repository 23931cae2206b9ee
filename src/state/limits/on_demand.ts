/**
 * Limits that not every mesh has: pools of API keys, budgets, quotas, error rates. What they consist of is imported once
 * settings ask for one: most pages have none.
 * @module
 */
import type { ProviderEntry } from "../../config/settings/settings.ts";
import type { RateLimits } from "../../contracts/provider.ts";
import type { ApiKeyPool } from "./api_key_pool.ts";
import type { Budget } from "./budget.ts";
import type { FailureWindow } from "./failure_window.ts";
import type { Quota } from "./quota.ts";
import { type ModelRateLimiter, RateLimiter } from "./rate_limiter.ts";

type PoolModules = typeof import("./api_key_pool.ts") & typeof import("./pooled_rate_limiter.ts");
type LimitModules = typeof import("./budget.ts") & typeof import("./failure_window.ts") & typeof import("./quota.ts");

/** What was imported; `load_limits.ts` does that. */
export const modules: { pools?: PoolModules; limits?: LimitModules } = {};

/**
 * Makes a provider's pool.
 *
 * @param provider With its keys.
 * @returns Undefined for one key: there is nothing to rotate over.
 */
export function newKeyPool(provider: ProviderEntry): ApiKeyPool | undefined {
  const { pools } = modules;
  return pools && hasSeveralKeys(provider) ? new pools.ApiKeyPool(provider.id, provider.apiKeys) : undefined;
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
  return keys === undefined ? new RateLimiter(limits) : new modules.pools!.PooledRateLimiter(keys, model, limits);
}

/** Makes a budget; undefined before budgets are loaded. */
export function newBudget(...parts: ConstructorParameters<typeof Budget>): Budget | undefined {
  return modules.limits && new modules.limits.Budget(...parts);
}

/** Makes a quota; undefined before quotas are loaded, and where nothing can be limited. */
export function newQuota(...parts: ConstructorParameters<typeof Quota>): Quota | undefined {
  return modules.limits && new modules.limits.Quota(...parts);
}

/** Makes what an error rate is read from; undefined before error rates are loaded. */
export function newFailureWindow(...parts: ConstructorParameters<typeof FailureWindow>): FailureWindow | undefined {
  return modules.limits && new modules.limits.FailureWindow(...parts);
}

/** Whether a provider has keys to rotate over. */
export function hasSeveralKeys({ apiKeys }: ProviderEntry): boolean {
  return apiKeys.length > 1;
}
