/**
 * Merges the routing settings of a pool: its own, those of `*`, the retry lists of a provider, the defaults.
 * @module
 */
import type { ModelNames } from "../check/model_names.ts";
import { createLookup, type First } from "../schema/pools.ts";
import { expandProviders, type ProviderParts } from "../check/provider_names.ts";
import { parseCron } from "../../util/cron.ts";
import { type CodeLists, mergeCodes } from "./_codes.ts";
import { toNanoUsd } from "../schema/money.ts";
import { deepFreeze } from "../schema/tree.ts";
import {
  defaultBalanceMode,
  defaultCooldownMs,
  defaultErrorRate,
  defaultMaintenanceMs,
  defaultMaxRetries,
  defaultRateLimit,
  defaultRecovery,
  defaultRetry,
  defaultRetryLimit,
  defaultStrategy,
} from "../settings/defaults.ts";
import { resolveStrategy } from "../settings/known.ts";
import type { PoolValues } from "../schema/pools.ts";
import type { CodeValues, ProviderValues } from "../schema/providers.ts";
import type { DeactivationSettings, RecoverySettings, RetrySettings, RoutingSettings } from "../settings/settings.ts";

export interface RoutingParts extends ProviderParts {
  /** Parsed provider entries, which may have retry settings of their own. */
  readonly providerValues: ReadonlyMap<string, ProviderValues>;
  readonly strategies: readonly string[];
  readonly models: ModelNames;
}

/**
 * Merges layers key by key, with defaults for missing keys.
 *
 * @param layers Layers, highest precedence first.
 */
export function mergeRouting(layers: readonly PoolValues[], parts: RoutingParts): RoutingSettings {
  const first = createLookup(layers);
  const strategy = first((layer) => layer.strategy) ?? defaultStrategy;
  const fallback = first((layer) => layer.fallback_strategy);
  const withOwnRetry = [...parts.providerValues].filter(([, { error, execution }]) => error ?? execution?.max_retries);
  return Object.freeze({
    strategy: typeof strategy === "string" ? resolveStrategy(strategy, parts.strategies) ?? strategy : strategy,
    fallbackStrategy: fallback === undefined ? undefined : resolveStrategy(fallback, parts.strategies),
    modelPriority: deepFreeze(first((layer) => layer.model_priority)?.map((name) => parts.models.toTarget(name)) ?? []),
    providerPriority: deepFreeze(expandProviders(first((layer) => layer.provider_priority), parts)),
    retry: deepFreeze(buildRetry(layers, first)),
    providerRetry: deepFreeze(new Map(withOwnRetry.map(([id, value]) => [id, buildRetry(layers, first, value)]))),
    deactivation: deepFreeze(buildDeactivation(first)),
    recovery: deepFreeze(buildRecovery(first)),
    rateLimit: deepFreeze({
      threshold: first((layer) => layer.rate_limit?.threshold) ?? defaultRateLimit.threshold,
      minDeltaMs: first((layer) => layer.rate_limit?.min_delta),
      maxRpm: first((layer) => layer.rate_limit?.max_rpm),
    }),
    balanceMode: first((layer) => layer.balance_mode) ?? defaultBalanceMode,
    providerDeactivation: deepFreeze(new Set(first((layer) => layer.provider_deactivation))),
    providerRecovery: first((layer) => layer.provider_recovery),
  });
}

function buildDeactivation(first: First): DeactivationSettings {
  const threshold = first(({ deactivation }) => deactivation?.error_rate_threshold);
  const budgetLimit = first(({ deactivation }) => deactivation?.budget_limit);
  const start = first(({ deactivation }) => deactivation?.maintenance_window);
  return {
    retryLimit: first(({ deactivation }) => deactivation?.retry_limit) ?? defaultRetryLimit,
    errorCodes: new Set(first(({ deactivation }) => deactivation?.error_codes)),
    errorRate: threshold === undefined ? undefined : {
      threshold,
      windowMs: first(({ deactivation }) => deactivation?.error_rate_window) ?? defaultErrorRate.windowMs,
      minRequests: first(({ deactivation }) => deactivation?.error_rate_min_requests) ?? defaultErrorRate.minRequests,
    },
    requestLimit: first(({ deactivation }) => deactivation?.request_limit),
    tokenLimit: first(({ deactivation }) => deactivation?.token_limit),
    budgetLimitNanoUsd: budgetLimit === undefined ? undefined : toNanoUsd(budgetLimit),
    quotaWindow: first(({ deactivation }) => deactivation?.quota_window),
    maintenance: start === undefined ? undefined : {
      cron: parseCron(start),
      durationMs: first(({ deactivation }) => deactivation?.maintenance_duration) ?? defaultMaintenanceMs,
    },
  };
}

function buildRecovery(first: First): RecoverySettings {
  return {
    cooldownMs: first(({ recovery }) => recovery?.cooldown) ?? defaultCooldownMs,
    probeOnStart: first(({ recovery }) => recovery?.probe_on_start) ?? defaultRecovery.probeOnStart,
    probeIntervalMs: first(({ recovery }) => recovery?.probe_interval),
    onQuotaReset: first(({ recovery }) => recovery?.on_quota_reset) ?? defaultRecovery.onQuotaReset,
    quotaReset: first(({ recovery }) => recovery?.quota_reset_schedule),
  };
}

function buildRetry(
  layers: readonly PoolValues[],
  first: First,
  { error, execution }: Pick<ProviderValues, "error" | "execution"> = {},
): RetrySettings {
  const { retryable, nonRetryable } = mergeCodes([...layers.map(({ retry }) => retry), error].map(toCodeLists));
  const tries = (first(({ retry }) => retry?.max_attempts) ?? defaultRetry.maxAttempts) + 1;
  const ownTries = (execution?.max_retries ?? defaultMaxRetries) + 1;
  return {
    maxAttempts: tries * ownTries - 1, // a provider's own retries apply within each attempt of the pool
    backoff: first(({ retry }) => retry?.backoff) ?? defaultRetry.backoff,
    initialDelayMs: first(({ retry }) => retry?.initial_delay) ?? defaultRetry.initialDelayMs,
    maxDelayMs: first(({ retry }) => retry?.max_delay) ?? defaultRetry.maxDelayMs,
    scope: first(({ retry }) => retry?.scope) ?? defaultRetry.scope,
    honorRetryAfter: first(({ retry }) => retry?.honor_retry_after) ?? defaultRetry.honorRetryAfter,
    retryableCodes: new Set(retryable),
    nonRetryableCodes: new Set(nonRetryable),
  };
}

function toCodeLists(codes: CodeValues | undefined): CodeLists {
  return { retryable: codes?.retryable_codes, nonRetryable: codes?.non_retryable_codes };
}
