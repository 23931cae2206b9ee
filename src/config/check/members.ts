/**
 * Checks settings against the models of a pool: settings for models that are not members, models without a pool, limits
 * that cannot be reached. All findings are warnings, since the mesh works nevertheless.
 * @module
 */
import { everyPool, type First, firstOf } from "../schema/pools.ts";
import { expandProviders, type ProviderParts } from "./provider_names.ts";
import type { Members } from "./pool_members.ts";
import { quoted, type Report, show, under } from "../schema/report.ts";
import { defaultRetry } from "../settings/defaults.ts";
import type { DocumentValues } from "../schema/schema.ts";
import type { PoolValues } from "../schema/pools.ts";
import type { HealthSettings, PoolSettings } from "../settings/settings.ts";

interface PoolFacts extends ProviderParts {
  readonly members: Members;
  readonly health: HealthSettings;
  readonly pools: ReadonlyMap<string, PoolSettings>;
  readonly report: Report;
}

/** Warns about pools without possible members, and settings for models that are not in their pool. */
export function checkMembers(values: DocumentValues, facts: PoolFacts): void {
  const common = values.pools?.get(everyPool) ?? {};
  for (const [name, value] of values.pools ?? []) {
    const path = under("pools", name);
    const pool = facts.pools.get(name);
    const first = firstOf(pool === undefined ? [value] : [value, common]);
    if (pool === undefined || facts.members.mayHaveSeveral(pool)) checkScope(value, path, first, facts.report);
    if (pool === undefined) continue;
    checkPriorities(value, path, pool, facts);
    checkRate(value, path, pool, facts);
    checkProbes(pool, facts);
  }
  checkUnused(values, facts);
}

function checkPriorities(value: PoolValues, path: string, pool: PoolSettings, facts: PoolFacts): void {
  const { members, report } = facts;
  value.model_priority?.forEach((name, index) => {
    if (members.mayHave(pool, name)) return;
    report.warn(`${path}.model_priority[${index}]`, `has no effect: the model ${show(name)} is not in this pool`);
  });
  value.provider_priority?.forEach((name, index) => {
    if (expandProviders([name], facts).some((id) => members.mayList(pool, id))) return;
    report.warn(
      `${path}.provider_priority[${index}]`,
      `has no effect: no model of the provider ${show(name)} is in this pool`,
    );
  });
}

function checkRate(value: PoolValues, path: string, pool: PoolSettings, { members, report }: PoolFacts): void {
  const maxRpm = value.rate_limit?.max_rpm ?? 0;
  const models = members.configuredIn(pool).filter(({ limits }) => limits.rpm !== undefined && limits.rpm < maxRpm);
  if (models.length === 0) return;
  const names = quoted(models.map(({ name }) => name));
  report.warn(`${path}.rate_limit.max_rpm`, `is above "limits.rpm" of ${names}, which is reached first`);
}

/** Without probes, a provider with the recovery `on_probe_success` never recovers. */
function checkProbes(pool: PoolSettings, { entries, members, health, report }: PoolFacts): void {
  const { providerRecovery, providerDeactivation, recovery } = pool.routing;
  if (providerRecovery !== "on_probe_success" || !providerDeactivation?.size) return;
  if (recovery.probeIntervalMs !== undefined) return;
  const left = [...entries.keys()].filter((id) => health.providers?.includes(id) === false);
  const never = left.filter((id) => members.mayList(pool, id));
  if (never.length === 0) return;
  const recoveries = `which the pool ${show(pool.name)} recovers "on_probe_success" only`;
  report.warn("discovery.health.providers", `excludes ${quoted(never)}, ${recoveries}`);
}

function checkScope({ retry }: PoolValues, path: string, first: First, report: Report): void {
  if ((retry?.scope ?? retry?.max_attempts) === undefined) return;
  const scope = first((layer) => layer.retry?.scope);
  const attempts = first((layer) => layer.retry?.max_attempts) ?? defaultRetry.maxAttempts;
  if (scope !== "same_model" || attempts > 0) return;
  report.warn(
    `${path}.retry.${retry?.scope === undefined ? "max_attempts" : "scope"}`,
    '"same_model" with a "max_attempts" of 0 makes every failure final: no other model is tried',
  );
}

function checkUnused(values: DocumentValues, { members, pools, report }: PoolFacts): void {
  if (pools.size === 0) return;
  const aliased = new Set(values.aliases?.values());
  const pooled = new Set([...pools.values()].flatMap((pool) => members.configuredIn(pool)));
  for (const model of members.usable) {
    if (pooled.has(model) || aliased.has(model.name)) continue;
    report.warn(under("models", model.name), "is in none of the pools");
  }
}
