/**
 * Merges the routing settings of a pool: its own, those of `*`, the retry lists of a provider, the defaults.
 * @module
 */
import type { ModelNames } from "../check/model_names.ts";
import { complete, type Completed } from "../schema/complete.ts";
import { mergeLayers, pool, type PoolValues } from "../schema/pools.ts";
import { expandProviders, type ProviderParts } from "../check/provider_names.ts";
import { parseCron } from "../../util/cron.ts";
import { type CodeLists, mergeCodes } from "./_codes.ts";
import { toNanoUsd } from "../schema/money.ts";
import { deepFreeze } from "../schema/tree.ts";
import { resolveStrategy } from "../settings/known.ts";
import { type CodeValues, provider, type ProviderValues } from "../schema/providers.ts";
import type { DeactivationSettings, RetrySettings, RoutingSettings } from "../settings/settings.ts";

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
  const settings = complete(pool, mergeLayers(layers));
  const { strategy, fallbackStrategy: fallback, rateLimit, balanceMode, providerRecovery } = settings;
  const withOwnRetry = [...parts.providerValues].filter(([, { error, execution }]) => error ?? execution?.max_retries);
  return Object.freeze({
    strategy: typeof strategy === "string" ? resolveStrategy(strategy, parts.strategies) ?? strategy : strategy,
    fallbackStrategy: fallback === undefined ? undefined : resolveStrategy(fallback, parts.strategies),
    modelPriority: deepFreeze(settings.modelPriority?.map((name) => parts.models.toTarget(name)) ?? []),
    providerPriority: deepFreeze(expandProviders(settings.providerPriority, parts)),
    retry: deepFreeze(buildRetry(layers, settings.retry)),
    providerRetry: deepFreeze(
      new Map(withOwnRetry.map(([id, value]) => [id, buildRetry(layers, settings.retry, value)])),
    ),
    deactivation: deepFreeze(buildDeactivation(settings.deactivation)),
    recovery: deepFreeze(settings.recovery),
    rateLimit: deepFreeze(rateLimit),
    balanceMode,
    providerDeactivation: deepFreeze(new Set(settings.providerDeactivation)),
    providerRecovery,
  });
}

function buildDeactivation(settings: Completed<typeof pool.fields.deactivation>): DeactivationSettings {
  const { errorRateThreshold: threshold, budgetLimit, maintenanceWindow: start } = settings;
  return {
    retryLimit: settings.retryLimit,
    errorCodes: new Set(settings.errorCodes),
    errorRate: threshold === undefined ? undefined : {
      threshold,
      windowMs: settings.errorRateWindowMs,
      minRequests: settings.errorRateMinRequests,
    },
    requestLimit: settings.requestLimit,
    tokenLimit: settings.tokenLimit,
    budgetLimitNanoUsd: budgetLimit === undefined ? undefined : toNanoUsd(budgetLimit),
    quotaWindow: settings.quotaWindow,
    maintenance: start === undefined ? undefined : {
      cron: parseCron(start),
      durationMs: settings.maintenanceDurationMs,
    },
  };
}

function buildRetry(
  layers: readonly PoolValues[],
  settings: Completed<typeof pool.fields.retry>,
  value: Pick<ProviderValues, "error" | "execution"> = {},
): RetrySettings {
  const { retryable, nonRetryable } = mergeCodes([...layers.map(({ retry }) => retry), value.error].map(toCodeLists));
  const { maxRetries } = complete(provider.fields.execution, value.execution);
  return {
    ...settings,
    maxAttempts: (settings.maxAttempts + 1) * (maxRetries + 1) - 1, // a provider's own retries apply within each attempt
    retryableCodes: new Set(retryable),
    nonRetryableCodes: new Set(nonRetryable),
  };
}

function toCodeLists(codes: CodeValues | undefined): CodeLists {
  return { retryable: codes?.retryable_codes, nonRetryable: codes?.non_retryable_codes };
}
