/**
 * Routing settings of a pool after validation: strategy, breakers, retries and limits.
 * @module
 */
import type { BalanceMode, SelectionStrategy } from "../../contracts/rotation.ts";
import type { Cron } from "../../util/cron.ts";

export type Backoff = "fixed" | "exponential_jitter" | "retry_after";

/** Models that may be tried after a failure. */
export type RetryScope = "same_model" | "same_provider" | "any";

/** Retry settings for one model. */
export interface RetrySettings {
  /** Maximum retries after the first attempt. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  /** Delay before the first retry, ms. */
  readonly initialDelayMs: number;
  /** Maximum delay before a retry, ms. */
  readonly maxDelayMs: number;
  /** HTTP statuses that are always retried, whatever their failure class. */
  readonly retryableCodes: ReadonlySet<number>;
  /** HTTP statuses that are never retried, whatever their failure class. */
  readonly nonRetryableCodes: ReadonlySet<number>;
  readonly scope: RetryScope;
  /** Whether a provider's `Retry-After` is honored. */
  readonly honorRetryAfter: boolean;
}

/** Retry budget: limits retries on the same model to a fraction of a provider's traffic. */
export interface RetryBudgetSettings {
  /** Retries per request. */
  readonly ratio: number;
  /** Minimum number of retries allowed per window, whatever the ratio. */
  readonly min: number;
  /** Length of the sliding window, ms. */
  readonly windowMs: number;
}

/** Spending limits, nano-dollars (10⁻⁹ USD); an omitted limit does not apply. */
export interface BudgetSettings {
  /** Maximum per UTC calendar day. */
  readonly dailyNanoUsd?: number;
  /** Maximum per UTC calendar month. */
  readonly monthlyNanoUsd?: number;
  /** Fractions of a limit at which an event is emitted, ascending. */
  readonly alertAt?: readonly number[];
}

/** Avoidance of the vendors' rate limits. */
export interface RateLimitSettings {
  /** Used fraction of a limit, above 0 and up to 1, at which rate-limit-aware selects another model. */
  readonly threshold: number;
  /** Minimum time between two requests to one model, ms. */
  readonly minDeltaMs?: number;
  /** Requests per minute after which another model is selected. */
  readonly maxRpm?: number;
}

export interface ErrorRateSettings {
  /** Error rate, above 0 and up to 1. */
  readonly threshold: number;
  /** Length of the sliding window, ms. */
  readonly windowMs: number;
  /** Minimum number of requests in the window for an evaluation. */
  readonly minRequests: number;
}

/** Scheduled maintenance. */
export interface MaintenanceSettings {
  /** Start, UTC. */
  readonly cron: Cron;
  /** Duration, ms. */
  readonly durationMs: number;
}

export interface DeactivationSettings {
  /** Consecutive failures that deactivate a model. */
  readonly retryLimit: number;
  /** HTTP statuses that count as failures although their class does not. */
  readonly errorCodes: ReadonlySet<number>;
  /** Error rate that deactivates a model; undefined disables it. */
  readonly errorRate?: ErrorRateSettings;
  /** Number of requests that deactivates a model; undefined disables it. */
  readonly requestLimit?: number;
  /** Number of input and output tokens that deactivates a model; undefined disables it. */
  readonly tokenLimit?: number;
  /** Cost that deactivates a model, nano-dollars; undefined disables it. */
  readonly budgetLimitNanoUsd?: number;
  /** Window of the three limits; undefined: since the last cooldown. */
  readonly quotaWindow?: "daily" | "monthly";
  readonly maintenance?: MaintenanceSettings;
}

export interface RecoverySettings {
  /** Cooldown of a model in standby, ms. */
  readonly cooldownMs: number;
  /** Whether models in standby are probed at startup. */
  readonly probeOnStart?: boolean;
  /** Interval between probes of models in standby, ms; undefined disables them. */
  readonly probeIntervalMs?: number;
  /** Whether models recover when an exhausted quota resets. */
  readonly onQuotaReset?: boolean;
  /** When quotas reset. Undefined: the provider's `quotaReset`, or else each UTC day. */
  readonly quotaReset?: "monthly" | "daily_utc";
}

/** Conditions that deactivate a whole provider. */
export type ProviderDeactivation = "on_auth_failure" | "on_api_outage";

/** Condition of a whole provider's recovery. */
export type ProviderRecovery = "on_probe_success" | "on_manual";

/** Routing settings of a pool, merged from its own, those of `*`, and the defaults. */
export interface RoutingSettings {
  /** Strategy id, or an instance of the program. */
  readonly strategy: string | SelectionStrategy;
  /** Strategy used when no candidate is on a configured priority list, or when the strategy selects none. */
  readonly fallbackStrategy?: string;
  /** Model names in order of preference. */
  readonly modelPriority: readonly string[];
  /** Provider entry ids in order of preference. */
  readonly providerPriority: readonly string[];
  /** Retry settings of providers without their own. */
  readonly retry: RetrySettings;
  /** Retry settings of providers with their own, by entry id. */
  readonly providerRetry: ReadonlyMap<string, RetrySettings>;
  readonly deactivation: DeactivationSettings;
  readonly recovery: RecoverySettings;
  /** Undefined if no strategy or limit counts requests. */
  readonly rateLimit?: RateLimitSettings;
  readonly balanceMode?: BalanceMode;
  /** Effective in all pools; undefined or empty disables it. */
  readonly providerDeactivation?: ReadonlySet<ProviderDeactivation>;
  /** Undefined: recovery after the pool's cooldown. */
  readonly providerRecovery?: ProviderRecovery;
}

/**
 * The retry settings for calls to a provider: its own, or else the pool's.
 *
 * @param provider Entry id.
 */
export function retryFor(
  { retry, providerRetry }: Pick<RoutingSettings, "retry" | "providerRetry">,
  provider: string,
): RetrySettings {
  return providerRetry.get(provider) ?? retry;
}
