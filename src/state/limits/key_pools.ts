/**
 * Pools of API keys, for providers that have several. What they consist of is imported once a provider has: most pages
 * have none.
 * @module
 */
import type { ProviderEntry } from "../../config/settings/settings.ts";
import type { RateLimits } from "../../contracts/provider.ts";
import type { ApiKeyPool } from "./api_key_pool.ts";
import { type ModelRateLimiter, RateLimiter } from "./rate_limiter.ts";

type PoolModules = typeof import("./api_key_pool.ts") & typeof import("./pooled_rate_limiter.ts");

let modules: PoolModules | undefined;

/**
 * Imports what pools consist of, if a provider has several keys. Before that no pool is made.
 *
 * @param providers With their keys.
 */
export async function loadKeyPools(providers: Iterable<ProviderEntry>): Promise<void> {
  if (modules !== undefined || ![...providers].some(hasSeveralKeys)) return;
  const [pool, limiter] = await Promise.all([import("./api_key_pool.ts"), import("./pooled_rate_limiter.ts")]);
  modules = { ...pool, ...limiter };
}

/**
 * Makes a provider's pool.
 *
 * @param provider With its keys.
 * @returns Undefined for one key: there is nothing to rotate over.
 */
export function newKeyPool(provider: ProviderEntry): ApiKeyPool | undefined {
  return modules && hasSeveralKeys(provider) ? new modules.ApiKeyPool(provider.id, provider.apiKeys) : undefined;
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
  return keys === undefined ? new RateLimiter(limits) : new modules!.PooledRateLimiter(keys, model, limits);
}

function hasSeveralKeys({ apiKeys }: ProviderEntry): boolean {
  return apiKeys.length > 1;
}
