/**
 * The section `pools`.
 * @module
 */
import type { BalanceMode, SelectionStrategy } from "../../contracts/rotation.ts";
import { cronProblem } from "./formats.ts";
import { either, list, mapField, object, oneOrMany } from "./_containers.ts";
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
    /** Number of retries on the same model before the request goes to the next one. */
    max_attempts: integer({ min: 0, max: 10, default: defaultRetry.maxAttempts }),
    /** How the delay before a retry is computed; `retry_after`: the provider's `Retry-After`, up to `max_delay`. */
    backoff: oneOf(["fixed", "exponential_jitter", "retry_after"], defaultRetry.backoff),
    /** Delay before the first retry. */
    initial_delay: duration({ min: 0, default: defaultRetry.initialDelayMs }),
    /** Maximum delay between retries. */
    max_delay: duration({ min: 0, default: defaultRetry.maxDelayMs }),
    /** HTTP statuses that are retried on the same model. */
    retryable_codes: codes(defaultRetryableCodes),
    /** HTTP statuses that are not retried: the request goes to the next model immediately. */
    non_retryable_codes: codes(defaultNonRetryableCodes),
    /** Which models a request may go to after a failure. */
    scope: oneOf(["same_model", "same_provider", "any"], defaultRetry.scope),
    /** Whether to wait as long as the provider's `Retry-After` requests. */
    honor_retry_after: flag({ default: defaultRetry.honorRetryAfter }),
  });

const deactivation = () =>
  object<DeactivationValues>({
    /** Number of consecutive failed requests after which a model goes into standby. */
    retry_limit: integer({ min: 1, default: defaultRetryLimit }),
    /** HTTP statuses that count as failures although the request caused them. */
    error_codes: codes(),
    /** Error rate, from 0 to 1, at which a model goes into standby. */
    error_rate_threshold: number({ min: 0, max: 1 }),
    /** Time window over which the error rate is measured. */
    error_rate_window: duration({ default: defaultErrorRate.windowMs }),
    /** Minimum number of requests in the window before the error rate applies. */
    error_rate_min_requests: integer({ min: 1, default: defaultErrorRate.minRequests }),
    /** Number of requests after which a model goes into standby. */
    request_limit: count(),
    /** Number of tokens after which a model goes into standby. */
    token_limit: count(),
    /** Cost in USD after which a model goes into standby. */
    budget_limit: number({ min: 0 }),
    /** Window over which `request_limit`, `token_limit` and `budget_limit` are counted. */
    quota_window: oneOf(["monthly", "daily"]),
    /** Start of maintenance: a cron expression with five fields, in UTC. */
    maintenance_window: text({ isLiteral: true, check: cronProblem }),
    /** Duration of maintenance. */
    maintenance_duration: duration({ default: defaultMaintenanceMs }),
  });

const recovery = () =>
  object<RecoveryValues>({
    /** Time that a model stays in standby before it is tried again. */
    cooldown: duration({ default: defaultCooldownMs }),
    /** Whether models in standby are probed at startup. */
    probe_on_start: flag({ default: defaultRecovery.probeOnStart }),
    /** Interval at which models in standby are probed. */
    probe_interval: duration(),
    /** Whether models recover when their quota resets. */
    on_quota_reset: flag({ default: defaultRecovery.onQuotaReset }),
    /** Schedule on which quotas reset. */
    quota_reset_schedule: oneOf(["monthly", "daily_utc"]),
  });

const rateLimit = () =>
  object<RateLimitValues>({
    /** Used share of a rate limit, from 0 to 1, at which the pool switches to another model. */
    threshold: number({ min: 0, max: 1, default: defaultRateLimit.threshold }),
    /** Minimum interval between two requests to the same model. */
    min_delta: duration({ min: 0 }),
    /** Requests per minute to one model, above which the pool switches to another model. */
    max_rpm: count(),
  });

const pool = () =>
  object<PoolValues>({
    /** Node of the capability tree that the pool serves. Defaults to the pool's name unless `models` is set. */
    capability: text({ isLiteral: true }),
    /**
     * Models that belong to the pool regardless of their capabilities, by any name that a request may use: the model's,
     * the vendor's id, also dated or with its tag, or an alias of a model.
     */
    models: names(),
    /** Only models of these providers belong to the pool. */
    providers: names(),
    /** Models of these providers do not belong to the pool. */
    excluded_providers: names(),
    /**
     * Models in order of preference. Under every strategy they serve before all others; the strategy selects among those
     * that are active.
     */
    model_priority: names(),
    /** Providers in order of preference. Their models serve before all others, after those of `model_priority`. */
    provider_priority: names(),
    /** Selection strategy: a connector id, its short name, or an object with methods. */
    strategy: either(
      text({ isLiteral: true, default: defaultStrategy }),
      instance<SelectionStrategy>("a strategy", ["select", "score"]),
    ),
    /**
     * Strategy used when no model of `model_priority` or `provider_priority` is available, or when the strategy selects
     * none.
     */
    fallback_strategy: text({ isLiteral: true }),
    /** For `load-balanced`: equal shares (`absolute`), or shares in proportion to each model's limits (`relative`). */
    balance_mode: oneOf(["absolute", "relative"], defaultBalanceMode),
    /** Retries. */
    retry: retry(),
    /** Conditions that put a model into standby. */
    deactivation: deactivation(),
    /** Conditions that end a standby. */
    recovery: recovery(),
    /** Thresholds for staying below the vendors' rate limits. */
    rate_limit: rateLimit(),
    /** Maximum amount that may be spent through this pool. */
    budget: budget(),
    /** Failures that put a provider into standby in all pools. */
    provider_deactivation: oneOrMany(oneOf(["on_auth_failure", "on_api_outage"])),
    /** How a provider in standby recovers. */
    provider_recovery: oneOf(["on_probe_success", "on_manual"]),
  }, { spellings: { "rotation.selection": "", rotation: "" } });

/** Pools by name. The settings of `*` are defaults for all pools. */
export const pools = (): Field<ReadonlyMap<string, PoolValues>> => mapField(pool());

/** Name of the pool with defaults for all pools. */
export const everyPool = "*";

/** Returns the value of the highest-precedence layer that has one. */
export type First = <Value>(pick: (layer: PoolValues) => Value | undefined) => Value | undefined;

/** Creates a lookup that reads a key from the highest-precedence layer that has it. */
export function createLookup(layers: readonly PoolValues[]): First {
  return (pick) => {
    for (const layer of layers) {
      const value = pick(layer);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}
