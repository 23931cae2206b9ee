/**
 * How a pool routes, after validation: what strategies, states, retries and limits go by.
 * @module
 */
import type { BalanceMode, SelectionStrategy } from "../../contracts/rotation.ts";
import type { Cron } from "../../util/cron.ts";

/** How the wait before a retry is found. */
export type Backoff = "fixed" | "exponential_jitter" | "retry_after";

/** Where a request may go after a failure. */
export type RetryScope = "same_model" | "same_provider" | "any";

/** Retrying one model. */
export interface RetrySettings {
  /** Retries on the same model, beyond the first try. */
  readonly maxAttempts: number;
  /** How the wait is found. */
  readonly backoff: Backoff;
  /** First wait, ms. */
  readonly initialDelayMs: number;
  /** Longest wait, ms. */
  readonly maxDelayMs: number;
  /** Statuses that are retried whatever their class. */
  readonly retryableCodes: ReadonlySet<number>;
  /** Statuses that are not retried whatever their class. */
  readonly nonRetryableCodes: ReadonlySet<number>;
  /** Where a request may go next. */
  readonly scope: RetryScope;
  /** Whether a provider's hint is followed. */
  readonly honorRetryAfter: boolean;
}

/** The share of a provider's traffic that may be same-model retries. */
export interface RetryBudgetSettings {
  /** Retries per request. */
  readonly ratio: number;
  /** Retries that are always allowed per window. */
  readonly min: number;
  /** Window, ms. */
  readonly windowMs: number;
}

/** Money limits, nano-dollars (10⁻⁹ USD); no limit where none is given. */
export interface BudgetSettings {
  /** In one day of the UTC calendar. */
  readonly dailyNano?: number;
  /** In one month of the UTC calendar. */
  readonly monthlyNano?: number;
}

/** Keeping clear of the vendors' limits. */
export interface RateLimitSettings {
  /** Share of a limit at which rate-limit-aware takes another model, above 0, up to 1. */
  readonly threshold: number;
  /** Least time between two requests to one model, ms. */
  readonly minDeltaMs?: number;
  /** Requests a minute before another model is taken. */
  readonly maxRpm?: number;
}

/** The share of failures that deactivates a model. */
export interface ErrorRateSettings {
  /** Failures per request, above 0, up to 1. */
  readonly threshold: number;
  /** Sliding window the share is taken over, ms. */
  readonly windowMs: number;
  /** Requests the window has to have. */
  readonly minRequests: number;
}

/** Hours a model is out of service by plan. */
export interface MaintenanceSettings {
  /** When they start, UTC. */
  readonly cron: Cron;
  /** How long they last, ms. */
  readonly durationMs: number;
}

/** When a model is deactivated. */
export interface DeactivationSettings {
  /** Requests it failed to serve in a row. */
  readonly retryLimit: number;
  /** Statuses that count toward the limit although their class does not. */
  readonly errorCodes: ReadonlySet<number>;
  /** The share of failures; undefined: any share will do. */
  readonly errorRate?: ErrorRateSettings;
  /** Requests it may serve; undefined: any number. */
  readonly requestLimit?: number;
  /** Tokens it may use, read and written; undefined: any number. */
  readonly tokenLimit?: number;
  /** What it may cost, nano-dollars; undefined: anything. */
  readonly budgetLimitNano?: number;
  /** What the three limits count over; undefined: since the last cooldown. */
  readonly quotaWindow?: "daily" | "monthly";
  /** Maintenance. */
  readonly maintenance?: MaintenanceSettings;
}

/** When it recovers. */
export interface RecoverySettings {
  /** Time in standby, ms. */
  readonly cooldownMs: number;
  /** Whether models in standby are probed at start. */
  readonly probeOnStart?: boolean;
  /** How often models in standby are probed, ms; undefined: never. */
  readonly probeIntervalMs?: number;
  /** Whether a quota's reset reactivates the models that were in standby for it. */
  readonly onQuotaReset?: boolean;
  /** When quotas start anew; undefined: as the provider's `quotaReset` says, else each UTC day. */
  readonly quotaReset?: "monthly" | "daily_utc";
}

/** What deactivates a whole provider. */
export type ProviderDeactivation = "on_auth_failure" | "on_api_outage";

/** What lets a whole provider recover. */
export type ProviderRecovery = "on_probe_success" | "on_manual";

/** A pool's routing settings, merged: the pool's own, those of `*`, the built-in ones. */
export interface RoutingSettings {
  /** Strategy id, or an instance. */
  readonly strategy: string | SelectionStrategy;
  /** Asked once no candidate is on a list of priority that there is, or when the strategy chooses none. */
  readonly fallbackStrategy?: string;
  /** Ordered model preference. */
  readonly modelPriority: readonly string[];
  /** Ordered provider preference. */
  readonly providerPriority: readonly string[];
  /** Retrying, for providers without settings of their own. */
  readonly retry: RetrySettings;
  /** Retrying by provider entry id, for those with lists of codes or retries of their own. */
  readonly providerRetry: ReadonlyMap<string, RetrySettings>;
  /** Deactivation. */
  readonly deactivation: DeactivationSettings;
  /** Recovery. */
  readonly recovery: RecoverySettings;
  /** Keeping clear of the vendors' limits; left out where nothing counts. */
  readonly rateLimit?: RateLimitSettings;
  /** How load-balanced shares requests out. */
  readonly balanceMode?: BalanceMode;
  /** What deactivates a provider in all pools; left out or empty: nothing. */
  readonly providerDeactivation?: ReadonlySet<ProviderDeactivation>;
  /** What lets it recover; undefined: the pool's cooldown. */
  readonly providerRecovery?: ProviderRecovery;
}

/**
 * How calls to a provider are retried.
 *
 * @param routing A pool's routing settings.
 * @param provider The provider's entry id.
 */
export function retryFor(
  { retry, providerRetry }: Pick<RoutingSettings, "retry" | "providerRetry">,
  provider: string,
): RetrySettings {
  return providerRetry.get(provider) ?? retry;
}
