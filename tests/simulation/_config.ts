/**
 * A scenario as a configuration document.
 * @module
 */
import type { PoolPlan } from "./_pool_plans.ts";
import { createQueueConfig } from "./_queues.ts";
import type { ModelPlan, Scenario } from "./scenario.ts";
import { minute } from "./_times.ts";
import type { Vendors } from "./vendors.ts";

/** Time between two looks at the lists, ms. */
export const syncMs: number = 7 * minute;

/** The document. */
export function createDocument(scenario: Scenario, vendors: Vendors): Record<string, unknown> {
  const { providers, models, pools, dailyUsd } = scenario;
  const configured = models.filter(({ absences }) => absences === undefined);
  return {
    providers: Object.fromEntries(providers.map(({ id, timeoutMs, dailyUsd, isListing }) => [id, {
      instance: vendors.provider(id),
      execution: { timeout: `${timeoutMs}ms` },
      discovery: { enumerate_models: isListing },
      ...createBudget(dailyUsd),
    }])),
    models: Object.fromEntries(configured.map((model) => [model.name, createModelConfig(model)])),
    pools: Object.fromEntries(pools.map((pool) => [pool.name, createPoolConfig(pool)])),
    ...(configured.length < models.length && {
      discovery: { sync: { interval: `${syncMs}ms`, on_deprecated_model: "deactivate" } },
    }),
    ...createBudget(dailyUsd),
  };
}

function createModelConfig({ provider, price, limits, weight }: ModelPlan): Record<string, unknown> {
  return { provider, pricing: price, weight, ...(Object.keys(limits).length === 0 ? {} : { limits }) };
}

function createPoolConfig(pool: PoolPlan): Record<string, unknown> {
  const { maxRpm, minDeltaMs } = pool;
  return {
    models: pool.models,
    strategy: pool.strategy,
    ...(pool.fallback === undefined ? {} : { fallback_strategy: pool.fallback }),
    balance_mode: pool.balance,
    retry: {
      max_attempts: pool.maxAttempts,
      backoff: pool.backoff,
      initial_delay: `${pool.initialDelayMs}ms`,
      max_delay: `${pool.maxDelayMs}ms`,
      scope: pool.scope,
      honor_retry_after: pool.honorsHints,
    },
    deactivation: {
      retry_limit: pool.retryLimit,
      ...(pool.errorCodes.length === 0 ? {} : { error_codes: pool.errorCodes }),
      ...pool.rules,
    },
    ...(pool.hedge === undefined ? {} : { hedge: { after: pool.hedge.after, max_share: pool.hedge.maxShare } }),
    ...(pool.queue === undefined ? {} : { queue: createQueueConfig(pool.queue) }),
    recovery: { cooldown: `${pool.cooldownMs}ms` },
    ...(maxRpm === undefined && minDeltaMs === undefined ? {} : {
      rate_limit: {
        ...(maxRpm === undefined ? {} : { max_rpm: maxRpm }),
        ...(minDeltaMs === undefined ? {} : { min_delta: `${minDeltaMs}ms` }),
      },
    }),
    ...(pool.providerDeactivation.length === 0 ? {} : { provider_deactivation: pool.providerDeactivation }),
    ...createBudget(pool.dailyUsd),
  };
}

function createBudget(dailyUsd: number | undefined): { budget?: { daily_limit: number } } {
  return dailyUsd === undefined ? {} : { budget: { daily_limit: dailyUsd } };
}
