/**
 * Routing settings of a pool after validation: strategy, breakers, retries and limits.
 * @module
 */
import type { SelectionStrategy } from "../../contracts/rotation.ts";
import type { Cron } from "../../util/cron.ts";
import type { HedgeDelay } from "../schema/units.ts";
export type { BudgetLimit, BudgetSettings } from "../schema/budget.ts";
import type { Completed } from "../schema/complete.ts";
import type { pool, PoolValues } from "../schema/pools.ts";
import type { provider } from "../schema/providers.ts";

type RetrySection = Completed<typeof pool.fields.retry>;

/** Models that may be tried after a failure. */
export type RetryScope = RetrySection["scope"];

/** Retry settings for one model. */
export interface RetrySettings extends Omit<RetrySection, "retryableCodes" | "nonRetryableCodes"> {
  /** HTTP statuses that are always retried, whatever their failure class. */
  readonly retryableCodes: ReadonlySet<number>;
  /** HTTP statuses that are never retried, whatever their failure class. */
  readonly nonRetryableCodes: ReadonlySet<number>;
}

/** Retry budget: limits retries on the same model to a fraction of a provider's traffic. */
export type RetryBudgetSettings = Completed<typeof provider.fields.retry.fields.budget>;

/** When a second model is asked for the same request. */
export interface HedgeSettings {
  /** Time without content after which it is asked. */
  readonly after: HedgeDelay;
  /** Maximum share of the pool's requests, above 0 and up to 1. */
  readonly maxShare: number;
}

/** Avoidance of the vendors' rate limits. */
export type RateLimitSettings = Completed<typeof pool.fields.rate_limit>;

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

type DeactivationSection = Completed<typeof pool.fields.deactivation>;

/** Keys of conditions with several keys, and of values that are converted. */
type ConvertedKey =
  | "errorCodes"
  | "budgetLimit"
  | Extract<keyof DeactivationSection, `errorRate${string}` | `maintenance${string}`>;

/** Conditions of a standby; an omitted one does not apply. */
export interface DeactivationSettings extends Omit<DeactivationSection, ConvertedKey> {
  /** HTTP statuses that count as failures although their class does not. */
  readonly errorCodes: ReadonlySet<number>;
  readonly errorRate?: ErrorRateSettings;
  /** Cost, nano-dollars. */
  readonly budgetLimitNanoUsd?: number;
  readonly maintenance?: MaintenanceSettings;
}

type RecoverySection = Completed<typeof pool.fields.recovery>;

/** Conditions that end a standby. Pages set the cooldown alone. */
export type RecoverySettings = Pick<RecoverySection, "cooldownMs"> & Partial<RecoverySection>;

/** Conditions that deactivate a whole provider. */
export type ProviderDeactivation = NonNullable<PoolValues["provider_deactivation"]>[number];

type PoolSection = Completed<typeof pool>;

/** Keys of a pool that define its members, and those that have settings of another form. */
type OtherKey =
  | "capability"
  | "models"
  | "providers"
  | "excludedProviders"
  | "budget"
  | "strategy"
  | "modelPriority"
  | "providerPriority"
  | "retry"
  | "hedge"
  | "deactivation"
  | "recovery"
  | "providerDeactivation";

/** Routing settings of a pool, merged from its own, those of `*`, and the defaults. Pages set some of them. */
export interface RoutingSettings extends Partial<Omit<PoolSection, OtherKey>> {
  /** Strategy id, or an instance of the program. */
  readonly strategy: string | SelectionStrategy;
  /** Model names in order of preference. */
  readonly modelPriority: readonly string[];
  /** Provider entry ids in order of preference. */
  readonly providerPriority: readonly string[];
  /** Retry settings of providers without their own. */
  readonly retry: RetrySettings;
  /** Retry settings of providers with their own, by entry id. */
  readonly providerRetry: ReadonlyMap<string, RetrySettings>;
  /** Undefined disables hedging. */
  readonly hedge?: HedgeSettings | undefined;
  readonly deactivation: DeactivationSettings;
  readonly recovery: RecoverySettings;
  /** Effective in all pools; undefined or empty disables it. */
  readonly providerDeactivation?: ReadonlySet<ProviderDeactivation>;
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
