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
  check(values, "sync", parts);
  if (values.auto_register === false && values.on_new_model === "register") {
    parts.report.warn("discovery.sync.on_new_model", 'is "notify", since "auto_register" is false');
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
  check(values, "health", parts);
  return {
    connector: values.connector ?? defaultHealth.connector,
    enabled: values.enabled ?? defaultHealth.enabled,
    intervalMs: values.interval,
    timeoutMs: values.timeout ?? defaultHealth.timeoutMs,
    failureThreshold: values.failure_threshold ?? defaultHealth.failureThreshold,
    providers: values.providers && expandProviders(values.providers, parts),
  };
}

function check(
  { connector, providers }: Pick<SyncValues, "connector" | "providers">,
  section: "sync" | "health",
  { known: { discovery }, ...parts }: DiscoveryParts,
): void {
  const { report } = parts;
  const path = `discovery.${section}`;
  checkProviders(providers, `${path}.providers`, parts);
  if (connector === undefined || discovery.includes(connector)) return;
  report.problem(
    `${path}.connector`,
    `no discovery connector ${show(connector)} is registered${suggest(connector, discovery)}`,
  );
}
