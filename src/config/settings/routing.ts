/**
 * How a pool routes, after validation: what strategies, states, retries and limits go by.
 * @module
 */
import type { BalanceMode, SelectionStrategy } from "../../contracts/rotation.ts";
import type { Cron } from "../../util/cron.ts";

export type Backoff = "fixed" | "exponential_jitter" | "retry_after";

/** Models to which a request may go after a failure. */
export type RetryScope = "same_model" | "same_provider" | "any";

/** Retries of one model. */
export interface RetrySettings {
  /** Beyond the first try. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  /** ms. */
  readonly initialDelayMs: number;
  /** ms. */
  readonly maxDelayMs: number;
  /** Statuses that are retried whatever their class. */
  readonly retryableCodes: ReadonlySet<number>;
  /** Statuses that are not retried whatever their class. */
  readonly nonRetryableCodes: ReadonlySet<number>;
  readonly scope: RetryScope;
  /** Whether a provider's `retry-after` is followed. */
  readonly honorRetryAfter: boolean;
}

/** Upper bound of same-model retries as a share of a provider's traffic. */
export interface RetryBudgetSettings {
  /** Retries per request. */
  readonly ratio: number;
  /** Always allowed per window, whatever the ratio. */
  readonly min: number;
  /** ms. */
  readonly windowMs: number;
}

/** Spending limits, nano-dollars (10⁻⁹ USD); an absent one does not limit. */
export interface BudgetSettings {
  /** Per day of the UTC calendar. */
  readonly dailyNano?: number;
  /** Per month of the UTC calendar. */
  readonly monthlyNano?: number;
  /** Shares of a limit at which an event is emitted, ascending. */
  readonly alertAt?: readonly number[];
}

/** Distance to vendors' rate limits. */
export interface RateLimitSettings {
  /** Share of a limit, above 0, up to 1, at which rate-limit-aware takes another model. */
  readonly threshold: number;
  /** Minimum time between two requests to one model, ms. */
  readonly minDeltaMs?: number;
  /** Requests per minute, after which another model is taken. */
  readonly maxRpm?: number;
}

export interface ErrorRateSettings {
  /** Failures per request, above 0, up to 1. */
  readonly threshold: number;
  /** Length of the sliding window, ms. */
  readonly windowMs: number;
  /** Requests in the window below which the rate is not evaluated. */
  readonly minRequests: number;
}

/** Planned time out of service. */
export interface MaintenanceSettings {
  /** Start, UTC. */
  readonly cron: Cron;
  /** ms. */
  readonly durationMs: number;
}

export interface DeactivationSettings {
  /** Consecutive failures. */
  readonly retryLimit: number;
  /** Statuses that count as failures although their class does not. */
  readonly errorCodes: ReadonlySet<number>;
  /** Undefined: any rate. */
  readonly errorRate?: ErrorRateSettings;
  /** Undefined: any number. */
  readonly requestLimit?: number;
  /** Input and output together; undefined: any number. */
  readonly tokenLimit?: number;
  /** Nano-dollars; undefined: any cost. */
  readonly budgetLimitNano?: number;
  /** Period of the three limits; undefined: since the last cooldown. */
  readonly quotaWindow?: "daily" | "monthly";
  readonly maintenance?: MaintenanceSettings;
}

export interface RecoverySettings {
  /** ms. */
  readonly cooldownMs: number;
  /** Probes models in standby at the start. */
  readonly probeOnStart?: boolean;
  /** Interval of probes of models in standby, ms; undefined: none. */
  readonly probeIntervalMs?: number;
  /** Reactivates models whose standby an exhausted quota caused. */
  readonly onQuotaReset?: boolean;
  /** Undefined: the provider's `quotaReset`, else each UTC day. */
  readonly quotaReset?: "monthly" | "daily_utc";
}

/** What deactivates a whole provider. */
export type ProviderDeactivation = "on_auth_failure" | "on_api_outage";

/** What lets a whole provider recover. */
export type ProviderRecovery = "on_probe_success" | "on_manual";

/** A pool's routing settings, merged: the pool's own, those of `*`, the built-in ones. */
export interface RoutingSettings {
  /** Id, or an instance of the program. */
  readonly strategy: string | SelectionStrategy;
  /** Asked once no candidate is on a list of priority that there is, or when the strategy chooses none. */
  readonly fallbackStrategy?: string;
  /** Names, the preferred first. */
  readonly modelPriority: readonly string[];
  /** Entry ids, the preferred first. */
  readonly providerPriority: readonly string[];
  /** For providers without retry settings of their own. */
  readonly retry: RetrySettings;
  /** By entry id, for providers with lists of codes or retries of their own. */
  readonly providerRetry: ReadonlyMap<string, RetrySettings>;
  readonly deactivation: DeactivationSettings;
  readonly recovery: RecoverySettings;
  /** Undefined where no strategy or limit counts requests. */
  readonly rateLimit?: RateLimitSettings;
  readonly balanceMode?: BalanceMode;
  /** Effective in all pools; undefined or empty: none. */
  readonly providerDeactivation?: ReadonlySet<ProviderDeactivation>;
  /** Undefined: after the pool's cooldown. */
  readonly providerRecovery?: ProviderRecovery;
}

/**
 * The retry settings for calls to one provider: its own, else the pool's.
 *
 * @param provider Entry id.
 */
export function retryFor(
  { retry, providerRetry }: Pick<RoutingSettings, "retry" | "providerRetry">,
  provider: string,
): RetrySettings {
  return providerRetry.get(provider) ?? retry;
}
