/**
 * Checks the routing settings of a pool. Contradictions that cannot work are problems; keys without effect are
 * warnings.
 * @module
 */
import { type First, firstOf } from "../schema/pools.ts";
import { isEndless } from "../schema/formats.ts";
import type { Report } from "../schema/report.ts";
import { defaultMaintenanceMs, defaultRetry, defaultStrategy } from "../settings/defaults.ts";
import { resolveStrategy, shortNameOf } from "../settings/known.ts";
import type { PoolValues } from "../schema/pools.ts";
import { formatDuration } from "../schema/units.ts";

export interface RoutingFacts {
  readonly strategies: readonly string[];
  readonly hasHealthProbes: boolean;
  readonly report: Report;
}

/** A key that has an effect only together with others. */
interface Rule {
  readonly key: string;
  readonly isGiven: (layer: PoolValues) => boolean;
  readonly hasEffect: (first: First, strategies: readonly string[]) => boolean;
  readonly message: string;
}

/** Created on use, so that bundles without a document exclude it. */
const rulesOf = (): readonly Rule[] => [...standbyRules(), ...strategyRules()];

const standbyRules = (): readonly Rule[] => [
  ...["error_rate_window" as const, "error_rate_min_requests" as const].map((key): Rule => ({
    key: `deactivation.${key}`,
    isGiven: ({ deactivation }) => deactivation?.[key] !== undefined,
    hasEffect: (first) => first(({ deactivation }) => deactivation?.error_rate_threshold) !== undefined,
    message: 'has no effect without "error_rate_threshold"',
  })),
  {
    key: "deactivation.quota_window",
    isGiven: ({ deactivation }) => deactivation?.quota_window !== undefined,
    hasEffect: (first) =>
      first(({ deactivation: own }) => own?.request_limit ?? own?.token_limit ?? own?.budget_limit) !== undefined,
    message: 'has no effect without "request_limit", "token_limit" or "budget_limit"',
  },
  {
    key: "deactivation.maintenance_duration",
    isGiven: ({ deactivation }) => deactivation?.maintenance_duration !== undefined,
    hasEffect: (first) => first(({ deactivation }) => deactivation?.maintenance_window) !== undefined,
    message: 'has no effect without "maintenance_window"',
  },
  {
    key: "provider_recovery",
    isGiven: (layer) => layer.provider_recovery !== undefined,
    hasEffect: (first) => first((layer) => layer.provider_deactivation) !== undefined,
    message: 'has no effect without "provider_deactivation"',
  },
  {
    key: "recovery.quota_reset_schedule",
    isGiven: ({ recovery }) => recovery?.quota_reset_schedule !== undefined,
    hasEffect: (first) => first(({ recovery }) => recovery?.on_quota_reset) !== false,
    message: 'has no effect while "on_quota_reset" is false',
  },
];

const strategyRules = (): readonly Rule[] => [
  {
    key: "rate_limit.threshold",
    isGiven: (layer) => layer.rate_limit?.threshold !== undefined,
    hasEffect: (first, strategies) => mayUse("rate-limit-aware", first, strategies),
    message: 'has no effect: only the strategy "rate-limit-aware" uses it',
  },
  {
    key: "balance_mode",
    isGiven: (layer) => layer.balance_mode !== undefined,
    hasEffect: (first, strategies) => mayUse("load-balanced", first, strategies),
    message: 'has no effect: only the strategy "load-balanced" uses it',
  },
  {
    key: "fallback_strategy",
    isGiven: (layer) => layer.fallback_strategy !== undefined,
    hasEffect: (first, strategies) => {
      const [strategy, fallback] = strategiesOf(first, strategies);
      return strategy !== fallback;
    },
    message: "has no effect: it is the pool's strategy",
  },
  {
    key: "fallback_strategy",
    isGiven: (layer) => layer.fallback_strategy !== undefined,
    hasEffect: (first, strategies) => {
      const [strategy, fallback] = strategiesOf(first, strategies);
      const lists = [first((layer) => layer.model_priority), first((layer) => layer.provider_priority)];
      return strategy === fallback || !isBuiltIn(strategy) || lists.some((list) => list !== undefined);
    },
    message: 'has no effect without "model_priority" or "provider_priority": it selects once those are exhausted',
  },
];

/**
 * Reports contradictions in the routing of one pool, or of `*`.
 *
 * @param value The parsed settings.
 * @param layers The layers of each pool that includes `value`, highest precedence first.
 */
export function checkContradictions(
  value: PoolValues,
  path: string,
  layers: readonly (readonly PoolValues[])[],
  facts: RoutingFacts,
): void {
  const contexts = layers.map(firstOf);
  for (const { key, isGiven, hasEffect, message } of rulesOf()) {
    if (!isGiven(value) || contexts.some((first) => hasEffect(first, facts.strategies))) continue;
    facts.report.warn(`${path}.${key}`, message);
  }
  if (value.deactivation?.error_rate_threshold === 0) {
    facts.report.warn(
      `${path}.deactivation.error_rate_threshold`,
      "is 0: models go into standby even without a failure",
    );
  }
  const first = contexts[0] ?? firstOf([value]);
  checkMaintenance(value, path, first, facts.report);
  checkProviderRecovery(value, path, first, facts);
  checkDelays(value, path, first, facts.report);
}

function mayUse(short: string, first: First, strategies: readonly string[]): boolean {
  // a custom strategy receives the same settings, and may honor them
  return strategiesOf(first, strategies).some((one) => {
    return one !== undefined && (!isBuiltIn(one) || shortNameOf(one) === short);
  });
}

/** Whether a strategy is built in, and so always selects a model. */
function isBuiltIn(strategy: unknown): strategy is string {
  return typeof strategy === "string" && strategy.startsWith("mesh.");
}

function strategiesOf(first: First, strategies: readonly string[]) {
  return [first((layer) => layer.strategy) ?? defaultStrategy, first((layer) => layer.fallback_strategy)].map((one) => {
    return typeof one === "string" ? resolveStrategy(one, strategies) ?? one : one;
  });
}

function checkMaintenance({ deactivation }: PoolValues, path: string, first: First, report: Report): void {
  const { maintenance_window: own, maintenance_duration: ownMs } = deactivation ?? {};
  const start = first((layer) => layer.deactivation?.maintenance_window);
  if (own === undefined && ownMs === undefined || start === undefined) return;
  const durationMs = first((layer) => layer.deactivation?.maintenance_duration) ?? defaultMaintenanceMs;
  if (!isEndless(start, durationMs)) return;
  report.problem(
    `${path}.deactivation.${ownMs === undefined ? "maintenance_window" : "maintenance_duration"}`,
    `maintenance of ${formatDuration(durationMs)} lasts until it starts again: it would never end`,
  );
}

function checkProviderRecovery(value: PoolValues, path: string, first: First, facts: RoutingFacts): void {
  const { report, hasHealthProbes } = facts;
  if (value.provider_recovery !== "on_probe_success" || hasHealthProbes) return;
  if (first(({ recovery }) => recovery?.probe_interval) !== undefined) return;
  if (report.hasProblemAt(`${path}.recovery`) || report.hasProblemAt("discovery.health")) return;
  report.problem(
    `${path}.provider_recovery`,
    '"on_probe_success" never occurs: set "recovery.probe_interval" or "discovery.health.interval"',
  );
}

function checkDelays({ retry, rate_limit: rate }: PoolValues, path: string, first: First, report: Report): void {
  const initialMs = first((layer) => layer.retry?.initial_delay) ?? defaultRetry.initialDelayMs;
  const maxMs = first((layer) => layer.retry?.max_delay) ?? defaultRetry.maxDelayMs;
  const maxDelay = `"max_delay" (${formatDuration(maxMs)})`;
  if (maxMs < initialMs && (retry?.initial_delay ?? retry?.max_delay) !== undefined) {
    const key = retry?.max_delay === undefined ? "initial_delay" : "max_delay";
    report.problem(`${path}.retry.${key}`, `${maxDelay} is less than "initial_delay" (${formatDuration(initialMs)})`);
  }
  const deltaMs = first((layer) => layer.rate_limit?.min_delta) ?? 0;
  if (deltaMs > maxMs && (rate?.min_delta ?? retry?.max_delay) !== undefined) {
    const key = rate?.min_delta === undefined ? "retry.max_delay" : "rate_limit.min_delta";
    const delta = `"min_delta" (${formatDuration(deltaMs)})`;
    report.warn(`${path}.${key}`, `${delta} is longer than ${maxDelay}, the maximum that a request waits for it`);
  }
}
