/**
 * Conditions of `pools.<name>`.
 * @module
 */
import { defaultDeadlineMs } from "../settings/defaults.ts";
import type { OperationName } from "../../contracts/provider.ts";
import type { Condition, PoolSubject } from "./condition.ts";
import { formatDuration, neverHedge, parseHedgeDelay } from "./units.ts";

/** Whether a strategy is built in, and so always selects a model. */
function isBuiltIn(strategy: unknown): strategy is string {
  return typeof strategy === "string" && strategy.startsWith("mesh.");
}

/** Whether a pool may use a built-in strategy of this name. A custom one receives the same settings, and may honor them. */
export function mayUse(name: string, strategies: PoolSubject["strategies"]): boolean {
  return strategies.some((strategy) =>
    strategy !== undefined && (!isBuiltIn(strategy) || strategy === `mesh.${name}.v1`)
  );
}

/** Conditions of `pools.<name>`. */
export const poolConditions = (): readonly Condition<PoolSubject>[] => [
  ...standby(),
  ...retries(),
  ...hedges(),
  ...strategies(),
  {
    keys: ["commit"],
    idle: ["first_content"],
    reason: ({ mayServe }) => mayServe("chat") ? undefined : ": only the text of chat models is streamed as events",
  },
  {
    keys: ["on_content_filter"],
    idle: ["return"],
    reason: ({ first, hasSeveral }) => {
      if (first(({ retry }) => retry?.scope) === "same_model") return ' while "retry.scope" is "same_model"';
      return hasSeveral() ? undefined : ": the pool has one model";
    },
  },
  {
    keys: ["first_token_timeout"],
    reason: ({ first, document, mayServe, providers }) => {
      const limitMs = first((layer) => layer.first_token_timeout)!;
      if (!mayServe("chat", "speech")) return ": no model of the pool streams";
      return findShorterDeadline(limitMs, document) ??
        (providers.length > 0 && providers.every(({ execution }) => (execution?.timeout ?? Infinity) < limitMs)
          ? ': each provider of the pool has a shorter "execution.timeout", which limits the silence before'
          : undefined);
    },
  },
];

/** Why a limit of the first content is never reached, if requests end before it. */
export function findShorterDeadline(limitMs: number, { proxy }: PoolSubject["document"]): string | undefined {
  const deadlineMs = proxy?.request_timeout ?? defaultDeadlineMs;
  return limitMs < deadlineMs
    ? undefined
    : `: a request ends after ${formatDuration(deadlineMs)} ("proxy.request_timeout")`;
}

const standby = (): readonly Condition<PoolSubject>[] => [
  {
    keys: ["deactivation.error_rate_window", "deactivation.error_rate_min_requests"],
    reason: ({ first }) =>
      first(({ deactivation }) => deactivation?.error_rate_threshold) === undefined
        ? ' without "error_rate_threshold"'
        : undefined,
  },
  {
    keys: ["deactivation.quota_window"],
    reason: ({ first }) =>
      first(({ deactivation: own }) => own?.request_limit ?? own?.token_limit ?? own?.budget_limit) === undefined
        ? ' without "request_limit", "token_limit" or "budget_limit"'
        : undefined,
  },
  {
    keys: ["deactivation.maintenance_duration"],
    reason: ({ first }) =>
      first(({ deactivation }) => deactivation?.maintenance_window) === undefined
        ? ' without "maintenance_window"'
        : undefined,
  },
  {
    keys: ["provider_recovery"],
    reason: ({ first }) =>
      first((layer) => layer.provider_deactivation) === undefined ? ' without "provider_deactivation"' : undefined,
  },
  {
    keys: ["recovery.quota_reset_schedule"],
    reason: ({ first }) =>
      first(({ recovery }) => recovery?.on_quota_reset) === false ? ' while "on_quota_reset" is false' : undefined,
  },
];

const retries = (): readonly Condition<PoolSubject>[] => [
  {
    keys: ["retry.backoff", "retry.initial_delay", "retry.retryable_codes", "retry.non_retryable_codes"],
    reason: ({ first, document }) => hasRetries(first, document) ? undefined : ' without retries: "max_attempts" is 0',
  },
  {
    keys: ["retry.honor_retry_after"],
    idle: [true],
    reason: ({ first }) =>
      first(({ retry }) => retry?.backoff) === "retry_after" ? ' while "backoff" is "retry_after"' : undefined,
  },
];

/** Whether requests of a pool are ever retried on the same model. */
export function hasRetries(first: PoolSubject["first"], { providers }: PoolSubject["document"]): boolean {
  return first(({ retry }) => retry?.max_attempts) !== 0 ||
    [...providers?.values() ?? []].some(({ execution }) => execution?.max_retries);
}

/** Operations of which requests may be hedged. Responses of the others are expensive, or requests contain files. */
export const hedgedOperations: readonly OperationName[] = ["chat", "embeddings", "moderation", "rerank", "search"];

const hedges = (): readonly Condition<PoolSubject>[] => [
  {
    keys: ["hedge"],
    reason: ({ first, mayServe }) => {
      if (first(({ hedge }) => hedge?.after) === neverHedge) return undefined;
      if (first(({ retry }) => retry?.scope) === "same_model") return ' while "retry.scope" is "same_model"';
      return mayServe(...hedgedOperations)
        ? undefined
        : ": requests for images, speech, transcriptions and documents are not hedged";
    },
  },
  {
    keys: ["hedge.after"],
    reason: ({ first, document }) => {
      const delay = parseHedgeDelay(first(({ hedge }) => hedge?.after) ?? neverHedge);
      return delay !== undefined && "ms" in delay ? findShorterDeadline(delay.ms, document) : undefined;
    },
  },
  {
    keys: ["hedge.max_share"],
    reason: ({ first }) =>
      first(({ hedge }) => hedge?.after) === neverHedge ? ` while "after" is "${neverHedge}"` : undefined,
  },
];

const strategies = (): readonly Condition<PoolSubject>[] => [
  {
    keys: ["affinity"],
    reason: ({ strategies: [strategy], mayServe }) => {
      if (!mayServe("chat")) return ": only chats have conversations";
      return isBuiltIn(strategy) ? undefined : ": a strategy of your own selects the model of every request";
    },
  },
  {
    keys: ["rate_limit.threshold"],
    reason: ({ strategies }) =>
      mayUse("rate-limit-aware", strategies) ? undefined : ': only the strategy "rate-limit-aware" uses it',
  },
  {
    keys: ["balance_mode"],
    reason: ({ strategies }) =>
      mayUse("load-balanced", strategies) ? undefined : ': only the strategy "load-balanced" uses it',
  },
  {
    keys: ["fallback_strategy"],
    reason: ({ first, strategies: [strategy, fallback] }) => {
      if (strategy === fallback) return ": it is the pool's strategy";
      const lists = [first((layer) => layer.model_priority), first((layer) => layer.provider_priority)];
      return !isBuiltIn(strategy) || lists.some((list) => list !== undefined)
        ? undefined
        : ' without "model_priority" or "provider_priority": it selects once those are exhausted';
    },
  },
];
