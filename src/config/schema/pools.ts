/**
 * The section `pools`.
 * @module
 */
import { findHedgeDelayProblem } from "./units.ts";
import type { Field, Given } from "./field.ts";
import {
  defaultCooldownMs,
  defaultRetry,
  defaultRetryLimit,
  defaultStrategy,
  maxPriority,
} from "../settings/defaults.ts";
import { budget } from "./budget.ts";
import { nonRetryableCodes, retryableCodes } from "./providers.ts";

/** An entry of `pools`. */
export const pool = {
  type: "object",
  spellings: { "rotation.selection": "", rotation: "" },
  foreign: {
    LiteLLM: {
      routing_strategy: '"strategy"',
      fallbacks: '"models" and "model_priority"',
      num_retries: '"retry.max_attempts"',
      allowed_fails: '"deactivation.retry_limit"',
      cooldown_time: '"recovery.cooldown"',
    },
    Portkey: { targets: '"models"' },
  },
  fields: {
    /** Node of the capability tree that the pool serves. Defaults to the pool's name unless `models` is set. */
    capability: { type: "text", isLiteral: true },
    /**
     * Models that belong to the pool regardless of their capabilities, by any name that a request may use: the model's,
     * the vendor's id, also dated or with its tag, or an alias of a model.
     */
    models: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
    /** Only models of these providers belong to the pool. */
    providers: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
    /** Models of these providers do not belong to the pool. */
    excluded_providers: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
    /**
     * Models in order of preference. Under every strategy they serve before all others; the strategy selects among
     * those that are active.
     */
    model_priority: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
    /** Providers in order of preference. Their models serve before all others, after those of `model_priority`. */
    provider_priority: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
    /** Selection strategy: a connector id, its short name, or an object with methods. */
    strategy: {
      type: "either",
      default: defaultStrategy as string,
      options: [{ type: "text", isLiteral: true }, { type: "instance", instance: "strategy" }],
    },
    /**
     * Strategy used when no model of `model_priority` or `provider_priority` is available, or when the strategy selects
     * none.
     */
    fallback_strategy: { type: "text", isLiteral: true },
    /** Names of the guards of its requests, in order. Those of `proxy` and of clients come before. */
    guards: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
    /** For `load-balanced`: equal shares (`absolute`), or shares in proportion to each model's limits (`relative`). */
    balance_mode: { type: "choice", values: ["absolute", "relative"], default: "absolute" },
    /**
     * Time limit for the first content of a stream. Takes precedence over `execution.first_token_timeout` of the
     * providers.
     */
    first_token_timeout: { type: "duration" },
    /**
     * When a stream commits to its model. With `first_content`, events are passed on from the first content on, and a model
     * that fails after that ends the stream with an error. With `complete`, clients receive nothing but heartbeats until the
     * response is complete, so that another model serves the request if one fails midway. Up to 4 MiB of events are held.
     */
    commit: { type: "choice", values: ["first_content", "complete"], default: "first_content" },
    /**
     * What happens after a provider has refused a request because of its content: the caller receives the provider's
     * reason (`return`), or the request goes to the next model, as does one whose non-streaming response or stream has
     * no content because of a filter (`rotate`).
     */
    on_content_filter: { type: "choice", values: ["return", "rotate"], default: "return" },
    /** Retries. */
    retry: {
      type: "object",
      fields: {
        /** Number of retries on the same model before the request goes to the next one. */
        max_attempts: { type: "integer", min: 0, max: 10, default: defaultRetry.maxAttempts as number },
        /** How the delay before a retry is computed; `retry_after`: the provider's `Retry-After`, up to `max_delay`. */
        backoff: {
          type: "choice",
          values: ["fixed", "exponential_jitter", "retry_after"],
          default: defaultRetry.backoff as string,
        },
        /** Delay before the first retry. */
        initial_delay: { type: "duration", min: 0, default: defaultRetry.initialDelayMs as number },
        /** Maximum delay between retries. */
        max_delay: { type: "duration", min: 0, default: defaultRetry.maxDelayMs as number },
        /** HTTP statuses that are retried on the same model. */
        retryable_codes: retryableCodes as typeof retryableCodes,
        /** HTTP statuses that are not retried: the request goes to the next model immediately. */
        non_retryable_codes: nonRetryableCodes as typeof nonRetryableCodes,
        /** Which models a request may go to after a failure. */
        scope: {
          type: "choice",
          values: ["same_model", "same_provider", "any"],
          default: defaultRetry.scope as string,
        },
        /** Whether to wait as long as the provider's `Retry-After` requests. */
        honor_retry_after: { type: "flag", default: defaultRetry.honorRetryAfter as boolean },
      },
    },
    /**
     * Hedging: a second model is asked when the first has not responded in time. The first content wins; the other
     * request is cancelled. Disabled if absent.
     */
    hedge: {
      type: "object",
      isOptional: true,
      fields: {
        /**
         * Time without content after which a second model is asked: a duration, or a percentile (`p50`, `p90`, `p95`,
         * `p99`) of the measured time to the first content of streams, or to complete responses. `off` disables hedging.
         */
        after: {
          type: "text",
          isLiteral: true,
          format: findHedgeDelayProblem as typeof findHedgeDelayProblem,
          default: "p95" as string,
        },
        /** Maximum share of the pool's requests, up to 1, for which a second model is asked. */
        max_share: { type: "number", above: 0, max: 1, default: 0.05 as number },
      },
    },
    /** Conditions that put a model into standby. */
    deactivation: {
      type: "object",
      fields: {
        /** Number of consecutive failed requests after which a model goes into standby. */
        retry_limit: { type: "integer", min: 1, default: defaultRetryLimit as number },
        /** HTTP statuses that count as failures although the request caused them. */
        error_codes: { type: "list", item: { type: "integer", min: 100, max: 599 } },
        /** Error rate, from 0 to 1, at which a model goes into standby. */
        error_rate_threshold: { type: "number", min: 0, max: 1 },
        /** Time window over which the error rate is measured. */
        error_rate_window: { type: "duration", default: 60_000 },
        /** Minimum number of requests in the window before the error rate applies. */
        error_rate_min_requests: { type: "integer", min: 1, default: 10 },
        /** Number of requests after which a model goes into standby. */
        request_limit: { type: "integer", min: 1 },
        /** Number of tokens after which a model goes into standby. */
        token_limit: { type: "integer", min: 1 },
        /** Cost in USD after which a model goes into standby. */
        budget_limit: { type: "number", min: 0 },
        /** Window over which `request_limit`, `token_limit` and `budget_limit` are counted. */
        quota_window: { type: "choice", values: ["monthly", "daily"] },
        /** Start of maintenance: a cron expression with five fields, in UTC. */
        maintenance_window: { type: "text", isLiteral: true, format: "cron" },
        /** Duration of maintenance. */
        maintenance_duration: { type: "duration", default: 3_600_000 },
      },
    },
    /** Conditions that end a standby. */
    recovery: {
      type: "object",
      fields: {
        /** Time that a model stays in standby before it is tried again. */
        cooldown: { type: "duration", default: defaultCooldownMs as number },
        /** Whether models in standby are probed at startup. */
        probe_on_start: { type: "flag", default: false },
        /** Interval at which models in standby are probed. */
        probe_interval: { type: "duration" },
        /** Whether models recover when their quota resets. */
        on_quota_reset: { type: "flag", default: true },
        /** Schedule on which quotas reset. */
        quota_reset_schedule: { type: "choice", values: ["monthly", "daily_utc"] },
      },
    },
    /** Thresholds for staying below the vendors' rate limits. */
    rate_limit: {
      type: "object",
      fields: {
        /** Used share of a rate limit, from 0 to 1, at which the pool switches to another model. */
        threshold: { type: "number", min: 0, max: 1, default: 0.8 },
        /** Minimum interval between two requests to the same model. */
        min_delta: { type: "duration", min: 0 },
        /** Requests per minute to one model, above which the pool switches to another model. */
        max_rpm: { type: "integer", min: 1 },
      },
    },
    /**
     * Prompt-cache affinity: a conversation stays with the model and the API key that served its beginning, before any
     * strategy, while the model is active and charges less for cached input.
     */
    affinity: {
      type: "object",
      isOptional: true,
      fields: {
        /** How conversations are recognized: `prompt`, by a hash of their instructions and their first message. */
        by: { type: "choice", values: ["prompt"], default: "prompt" },
        /** How long a conversation is remembered after each of its requests. */
        ttl: { type: "duration", default: 600_000 },
      },
    },
    /**
     * Lets requests wait while every model is at its limit of rate or concurrency. Without it, they are answered with
     * 429. Requests of the highest priority are served first, those of one priority in turns by client, those of one
     * client in the order of their arrival. None waits for a budget, or for a standby other than for a rate limit.
     */
    queue: {
      type: "object",
      isOptional: true,
      fields: {
        /** Maximum time that a request waits, which is part of the time that it has. Then it is answered with 429. */
        max_wait: { type: "duration", default: 30_000 },
        /** Maximum number of waiting requests in one process. Further ones are answered with 429. */
        max_length: { type: "integer", min: 1, default: 100 },
        /** Priority of requests without `x-mesh-priority`. The highest is served first. */
        priority: { type: "integer", min: 0, max: maxPriority as number, default: 0 },
      },
    },
    /** Maximum amount that may be spent through this pool. */
    budget: budget as typeof budget,
    /** Failures that put a provider into standby in all pools. */
    provider_deactivation: {
      type: "list",
      isSingleAllowed: true,
      item: { type: "choice", values: ["on_auth_failure", "on_api_outage"] },
      min: 1,
    },
    /** How a provider in standby recovers. */
    provider_recovery: { type: "choice", values: ["on_probe_success", "on_manual"] },
  },
} as const;

/** An entry of `pools` as given. */
export type PoolValues = Given<typeof pool>;

/** Name of the pool with defaults for all pools. */
export const everyPool = "*";

/** Returns the value of the highest-precedence layer that has one. */
export type First = <Value>(pick: (layer: PoolValues) => Value | undefined) => Value | undefined;

/** Merges layers key by key, also within objects. */
export function mergeLayers(layers: readonly PoolValues[]): PoolValues {
  return mergeMembers(pool.fields, layers);
}

type LayerValues = Readonly<Record<string, unknown>>;

function mergeMembers(fields: Readonly<Record<string, Field>>, layers: readonly LayerValues[]): LayerValues {
  const merged = Object.entries(fields).map(([key, { fields: inner }]) => {
    const present = layers.map((layer) => layer[key]).filter((value) => value !== undefined);
    return [
      key,
      inner === undefined || present.length === 0 ? present[0] : mergeMembers(inner, present as LayerValues[]),
    ];
  });
  return Object.fromEntries(merged);
}

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
