/**
 * The section `pools`.
 * @module
 */
import type { SelectionStrategy } from "../contracts/rotation.ts";
import { cronProblem } from "./_checks.ts";
import { either, list, mapOf, object, oneOrMany } from "./_containers.ts";
import type { Field } from "./_field.ts";
import { duration, flag, instance, integer, later, number, oneOf, text } from "./_fields.ts";
import {
  defaultCooldownMs,
  defaultNonRetryableCodes,
  defaultRetry,
  defaultRetryableCodes,
  defaultRetryLimit,
  defaultStrategy,
} from "./defaults.ts";
import { budget, codes, type CodeValues } from "./schema_providers.ts";
import type { Backoff, RetryScope } from "./settings.ts";

/** `retry`, as read. */
export interface RetryValues extends CodeValues {
  readonly max_attempts?: number;
  readonly backoff?: Backoff;
  readonly initial_delay?: number;
  readonly max_delay?: number;
  readonly scope?: RetryScope;
  readonly honor_retry_after?: boolean;
}

/** An entry of `pools`, as read. */
export interface PoolValues {
  readonly capability?: string;
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
  readonly excluded_providers?: readonly string[];
  readonly model_priority?: readonly string[];
  readonly provider_priority?: readonly string[];
  readonly strategy?: string | SelectionStrategy;
  readonly fallback_strategy?: string;
  readonly retry?: RetryValues;
  readonly deactivation?: { readonly retry_limit?: number; readonly error_codes?: readonly number[] };
  readonly recovery?: { readonly cooldown?: number };
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
  object<NonNullable<PoolValues["deactivation"]>>({
    /** Requests a model failed to serve in a row before it rests. */
    retry_limit: integer({ min: 1, default: defaultRetryLimit }),
    /** Statuses that count toward the limit although they are the request's fault. */
    error_codes: codes(),
    /** Share of failures that makes a model rest. */
    error_rate_threshold: later(number({ above: 0, max: 1 })),
    /** The window the share is taken over. */
    error_rate_window: later(duration({ default: 60_000 })),
    /** Requests the window has to have. */
    error_rate_min_requests: later(integer({ min: 1, default: 10 })),
    /** Requests a model serves before it rests. */
    request_limit: later(count()),
    /** Tokens a model may use before it rests. */
    token_limit: later(count()),
    /** USD a model may cost before it rests. */
    budget_limit: later(number({ min: 0 })),
    /** The window over which the three limits count. */
    quota_window: later(oneOf(["monthly", "daily"])),
    /** When maintenance starts: a cron expression of five fields, UTC. */
    maintenance_window: later(text({ isLiteral: true, check: cronProblem })),
    /** How long it takes. */
    maintenance_duration: later(duration({ default: 3_600_000 })),
  });

const recovery = () =>
  object<NonNullable<PoolValues["recovery"]>>({
    /** Time in standby before a model is tried again. */
    cooldown: duration({ default: defaultCooldownMs }),
    /** Probe resting models at start. */
    probe_on_start: later(flag({ default: false }), false),
    /** How often resting models are probed. */
    probe_interval: later(duration()),
    /** Take models back when their quota starts anew. */
    on_quota_reset: later(flag({ default: true })),
    /** When quotas start anew. */
    quota_reset_schedule: later(oneOf(["monthly", "daily_utc"])),
  });

const rateLimit = () =>
  object({
    /** Share of a limit at which another model is taken. */
    threshold: number({ above: 0, max: 1, default: 0.8 }),
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
    /** Asked when the strategy leaves the choice open. */
    fallback_strategy: text({ isLiteral: true }),
    /** For load-balanced: evenly, or in proportion to each model's limit. */
    balance_mode: later(oneOf(["absolute", "relative"])),
    /** Trying again. */
    retry: retry(),
    /** When a model is set aside. */
    deactivation: deactivation(),
    /** When it is taken back. */
    recovery: recovery(),
    /** Keeping clear of the vendors' limits. */
    rate_limit: later(rateLimit()),
    /** Most that may be spent through this pool. */
    budget: later(budget()),
    /** What sets a provider aside in all pools. */
    provider_deactivation: later(oneOrMany(oneOf(["on_auth_failure", "on_api_outage"]))),
    /** What takes it back. */
    provider_recovery: later(oneOf(["on_probe_success", "on_manual"])),
  });

/** Pools by name; what `*` says holds for all of them that do not say otherwise. */
export const pools = (): Field<ReadonlyMap<string, PoolValues>> => mapOf(pool());
