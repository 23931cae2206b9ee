/**
 * Checks the routing settings of a pool. Contradictions that cannot work are problems, odd ones are warnings.
 * @module
 */
import { createLookup, type First, pool, type PoolValues } from "../schema/pools.ts";
import { isEndless } from "../schema/formats.ts";
import type { Report } from "../schema/report.ts";
import { defaultRetry } from "../settings/defaults.ts";
import { formatDuration } from "../schema/units.ts";

export interface RoutingFacts {
  readonly strategies: readonly string[];
  readonly hasHealthProbes: boolean;
  readonly report: Report;
}

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
  if (value.deactivation?.error_rate_threshold === 0) {
    facts.report.warn(
      `${path}.deactivation.error_rate_threshold`,
      "is 0: models go into standby even without a failure",
    );
  }
  const first = createLookup(layers[0] ?? [value]);
  checkMaintenance(value, path, first, facts.report);
  checkProviderRecovery(value, path, first, facts);
  checkDelays(value, path, first, facts.report);
}

function checkMaintenance({ deactivation }: PoolValues, path: string, first: First, report: Report): void {
  const { maintenance_window: own, maintenance_duration: ownMs } = deactivation ?? {};
  const start = first((layer) => layer.deactivation?.maintenance_window);
  if (own === undefined && ownMs === undefined || start === undefined) return;
  const durationMs = first((layer) => layer.deactivation?.maintenance_duration) ??
    pool.fields.deactivation.fields.maintenance_duration.default;
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
