/**
 * The section `pools`.
 * @module
 */
import type { BalanceMode, SelectionStrategy } from "../../contracts/rotation.ts";
import { cronProblem } from "./formats.ts";
import { either, list, mapOf, object, oneOrMany } from "./_containers.ts";
import type { Field } from "./field.ts";
import { duration, flag, instance, integer, number, oneOf, text } from "./_fields.ts";
import {
  defaultBalanceMode,
  defaultCooldownMs,
  defaultErrorRate,
  defaultMaintenanceMs,
  defaultNonRetryableCodes,
  defaultRateLimit,
  defaultRecovery,
  defaultRetry,
  defaultRetryableCodes,
  defaultRetryLimit,
  defaultStrategy,
} from "../settings/defaults.ts";
import { budget, type BudgetValues, codes, type CodeValues } from "./providers.ts";
import type { Backoff, ProviderDeactivation, ProviderRecovery, RetryScope } from "../settings/settings.ts";

interface RetryValues extends CodeValues {
  readonly max_attempts?: number;
  readonly backoff?: Backoff;
  readonly initial_delay?: number;
  readonly max_delay?: number;
  readonly scope?: RetryScope;
  readonly honor_retry_after?: boolean;
}

interface DeactivationValues {
  readonly retry_limit?: number;
  readonly error_codes?: readonly number[];
  readonly error_rate_threshold?: number;
  readonly error_rate_window?: number;
  readonly error_rate_min_requests?: number;
  readonly request_limit?: number;
  readonly token_limit?: number;
  readonly budget_limit?: number;
  readonly quota_window?: "monthly" | "daily";
  readonly maintenance_window?: string;
  readonly maintenance_duration?: number;
}

interface RecoveryValues {
  readonly cooldown?: number;
  readonly probe_on_start?: boolean;
  readonly probe_interval?: number;
  readonly on_quota_reset?: boolean;
  readonly quota_reset_schedule?: "monthly" | "daily_utc";
}

interface RateLimitValues {
  readonly threshold?: number;
  readonly min_delta?: number;
  readonly max_rpm?: number;
}

export interface PoolValues {
  readonly capability?: string;
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
  readonly excluded_providers?: readonly string[];
  readonly model_priority?: readonly string[];
  readonly provider_priority?: readonly string[];
  readonly strategy?: string | SelectionStrategy;
  readonly fallback_strategy?: string;
  readonly balance_mode?: BalanceMode;
  readonly retry?: RetryValues;
  readonly deactivation?: DeactivationValues;
  readonly recovery?: RecoveryValues;
  readonly rate_limit?: RateLimitValues;
  readonly budget?: BudgetValues;
  readonly provider_deactivation?: readonly ProviderDeactivation[];
  readonly provider_recovery?: ProviderRecovery;
}

const names = () => list(text({ isLiteral: true }), { min: 1 });
const count = () => integer({ min: 1 });

const retry = () =>
  object<RetryValues>({
    /** Retries on the same model before the next one is asked. */
    max_attempts: integer({ min: 0, max: 10, default: defaultRetry.maxAttempts }),
    /** How the wait before a retry is found. */
    backoff: oneOf(["fixed", "exponential_jitter", "retry_after"], defaultRetry.backoff),
    /** First wait. */
    initial_delay: duration({ min: 0, default: defaultRetry.initialDelayMs }),
    /** Longest wait. */
    max_delay: duration({ min: 0, default: defaultRetry.maxDelayMs }),
    /** Statuses that are tried again on the same model. */
    retryable_codes: codes(defaultRetryableCodes),
    /** Statuses that are not, so that the next model is asked at once. */
    non_retryable_codes: codes(defaultNonRetryableCodes),
    /** Where a request may go after a failure. */
    scope: oneOf(["same_model", "same_provider", "any"], defaultRetry.scope),
    /** Follow a provider's hint how long to wait. */
    honor_retry_after: flag({ default: defaultRetry.honorRetryAfter }),
  });

const deactivation = () =>
  object<DeactivationValues>({
    /** Failed requests in a row after which a model goes into standby. */
    retry_limit: integer({ min: 1, default: defaultRetryLimit }),
    /** Statuses that count toward the limit although they are the request's fault. */
    error_codes: codes(),
    /** Share of failures at which a model goes into standby. */
    error_rate_threshold: number({ min: 0, max: 1 }),
    /** The window the share is taken over. */
    error_rate_window: duration({ default: defaultErrorRate.windowMs }),
    /** Requests the window has to have. */
    error_rate_min_requests: integer({ min: 1, default: defaultErrorRate.minRequests }),
    /** Requests a model serves before it goes into standby. */
    request_limit: count(),
    /** Tokens a model may use before it goes into standby. */
    token_limit: count(),
    /** USD a model may cost before it goes into standby. */
    budget_limit: number({ min: 0 }),
    /** The window over which the three limits count. */
    quota_window: oneOf(["monthly", "daily"]),
    /** When maintenance starts: a cron expression of five fields, UTC. */
    maintenance_window: text({ isLiteral: true, check: cronProblem }),
    /** How long it takes. */
    maintenance_duration: duration({ default: defaultMaintenanceMs }),
  });

const recovery = () =>
  object<RecoveryValues>({
    /** Time in standby before a model is tried again. */
    cooldown: duration({ default: defaultCooldownMs }),
    /** Probe models in standby at start. */
    probe_on_start: flag({ default: defaultRecovery.probeOnStart }),
    /** How often models in standby are probed. */
    probe_interval: duration(),
    /** Take models back when their quota starts anew. */
    on_quota_reset: flag({ default: defaultRecovery.onQuotaReset }),
    /** When quotas start anew. */
    quota_reset_schedule: oneOf(["monthly", "daily_utc"]),
  });

const rateLimit = () =>
  object<RateLimitValues>({
    /** Share of a limit at which another model is taken. */
    threshold: number({ min: 0, max: 1, default: defaultRateLimit.threshold }),
    /** Least time between two requests to one model. */
    min_delta: duration({ min: 0 }),
    /** Requests a minute before another model is taken. */
    max_rpm: count(),
  });

const pool = () =>
  object<PoolValues>({
    /** The node of the capability tree it serves; its own name unless `models` is given. */
    capability: text({ isLiteral: true }),
    /** Models that are in it in any case, by name. */
    models: names(),
    /** Only these providers. */
    providers: names(),
    /** Not these providers. */
    excluded_providers: names(),
    /** Models in the order they are preferred. */
    model_priority: names(),
    /** Providers in the order they are preferred. */
    provider_priority: names(),
    /** How a model is chosen: an id, its short name, or an object with methods. */
    strategy: either(
      text({ isLiteral: true, default: defaultStrategy }),
      instance<SelectionStrategy>("a strategy", ["select", "score"]),
    ),
    /** Asked once no model of `model_priority` or `provider_priority` is left, or when the strategy chooses none. */
    fallback_strategy: text({ isLiteral: true }),
    /** For load-balanced: evenly, or in proportion to each model's limit. */
    balance_mode: oneOf(["absolute", "relative"], defaultBalanceMode),
    /** Trying again. */
    retry: retry(),
    /** When a model is deactivated. */
    deactivation: deactivation(),
    /** When it recovers. */
    recovery: recovery(),
    /** Keeping clear of the vendors' limits. */
    rate_limit: rateLimit(),
    /** The most that may be spent through this pool. */
    budget: budget(),
    /** What deactivates a provider in all pools. */
    provider_deactivation: oneOrMany(oneOf(["on_auth_failure", "on_api_outage"])),
    /** What takes it back. */
    provider_recovery: oneOf(["on_probe_success", "on_manual"]),
  });

/** Pools by name; what `*` configures applies to every pool that does not configure it itself. */
export const pools = (): Field<ReadonlyMap<string, PoolValues>> => mapOf(pool());

/** The name under which the settings of all pools stand. */
export const everyPool = "*";

/** The value of the strongest layer that has one. */
export type First = <Value>(pick: (layer: PoolValues) => Value | undefined) => Value | undefined;

/** Reads a key from the strongest layer that has it. */
export function firstOf(layers: readonly PoolValues[]): First {
  return (pick) => {
    for (const layer of layers) {
      const value = pick(layer);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}
