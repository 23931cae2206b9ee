/**
 * Builds the section `discovery`.
 * @module
 */
import { checkProviders, expandProviders, type ProviderParts } from "../check/provider_names.ts";
import { type Report, show, suggest } from "../schema/report.ts";
import type { DocumentValues, HealthValues, SyncValues } from "../schema/schema.ts";
import { defaultHealth, defaultSync } from "../settings/discovery_defaults.ts";
import type { KnownConnectors } from "../settings/known.ts";
import type { HealthSettings, SyncSettings } from "../settings/settings.ts";

interface DiscoveryParts extends ProviderParts {
  readonly known: Pick<KnownConnectors, "discovery">;
  readonly report: Report;
}

/** Resolves provider and connector names, and fills in defaults. */
export function buildDiscovery(
  { sync = {}, health = {} }: NonNullable<DocumentValues["discovery"]>,
  parts: DiscoveryParts,
): { readonly sync: SyncSettings; readonly health: HealthSettings } {
  return { sync: buildSync(sync, parts), health: buildHealth(health, parts) };
}

function buildSync(values: SyncValues, parts: DiscoveryParts): SyncSettings {
  const { enabled, connector, interval, providers, ...actions } = values;
  const own = [...parts.entries.values()].some(({ refreshMs }) => refreshMs !== undefined);
  const warned = ["auto_register", "providers", "on_new_model", "on_deprecated_model"] as const;
  check(values, { section: "sync", isIdle: interval === undefined && !own, warned }, parts);
  if (values.auto_register === false && values.on_new_model === "register") {
    parts.report.warn("discovery.sync.on_new_model", 'is "notify", since "auto_register" is false');
  }
  if (enabled === false) {
    for (const { id, refreshMs } of parts.entries.values()) {
      if (refreshMs === undefined) continue;
      parts.report.warn(`providers.${id}.catalogue.refresh_interval`, "has no effect: discovery.sync is switched off");
    }
  }
  return {
    connector: connector ?? defaultSync.connector,
    enabled: enabled ?? defaultSync.enabled,
    intervalMs: interval,
    providers: providers && expandProviders(providers, parts),
    actions,
  };
}

function buildHealth(values: HealthValues, parts: DiscoveryParts): HealthSettings {
  const warned = ["enabled", "timeout", "failure_threshold", "providers"] as const;
  check(values, { section: "health", isIdle: values.interval === undefined, warned }, parts);
  return {
    connector: values.connector ?? defaultHealth.connector,
    enabled: values.enabled ?? defaultHealth.enabled,
    intervalMs: values.interval,
    timeoutMs: values.timeout ?? defaultHealth.timeoutMs,
    failureThreshold: values.failure_threshold ?? defaultHealth.failureThreshold,
    providers: values.providers && expandProviders(values.providers, parts),
  };
}

interface SectionFacts<Key extends string> {
  readonly section: "sync" | "health";
  /** Whether no interval is configured. */
  readonly isIdle: boolean;
  /** Keys without effect in that case. */
  readonly warned: readonly Key[];
}

function check<Key extends string>(
  values: { readonly connector?: string; readonly providers?: readonly string[] } & { readonly [key in Key]?: unknown },
  { section, isIdle, warned }: SectionFacts<Key>,
  { known: { discovery }, ...parts }: DiscoveryParts,
): void {
  const { report } = parts;
  const { connector, providers } = values;
  const path = `discovery.${section}`;
  checkProviders(providers, `${path}.providers`, parts);
  if (isIdle) {
    for (const key of warned) if (values[key]) report.warn(`${path}.${key}`, 'has no effect without "interval"');
  }
  if (connector === undefined || discovery.includes(connector)) return;
  report.problem(
    `${path}.connector`,
    `no discovery connector ${show(connector)} is registered${suggest(connector, discovery)}`,
  );
}
