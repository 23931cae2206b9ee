/**
 * Builds the section `discovery`.
 * @module
 */
import { checkProviders, expandProviders, type ProviderParts } from "../check/provider_names.ts";
import { type Report, show, suggest } from "../schema/report.ts";
import { complete } from "../schema/complete.ts";
import { discovery, type DocumentValues, type HealthValues, type SyncValues } from "../schema/schema.ts";
import type { KnownConnectors } from "../settings/known.ts";
import type { HealthSettings, SyncSettings } from "../settings/settings.ts";

interface DiscoveryParts extends ProviderParts {
  readonly known: Pick<KnownConnectors, "discovery">;
  readonly report: Report;
}

/** Resolves provider and connector names. */
export function buildDiscovery(
  { sync = {}, health = {} }: NonNullable<DocumentValues["discovery"]>,
  parts: DiscoveryParts,
): { readonly sync: SyncSettings; readonly health: HealthSettings } {
  return { sync: buildSync(sync, parts), health: buildHealth(health, parts) };
}

function buildSync(values: SyncValues, parts: DiscoveryParts): SyncSettings {
  const { enabled, connector, intervalMs, providers, ...actions } = complete(discovery.fields.sync, values);
  check(values, "sync", parts);
  if (values.auto_register === false && values.on_new_model === "register") {
    parts.report.warn("discovery.sync.on_new_model", 'is "notify", since "auto_register" is false');
  }
  return {
    connector,
    enabled,
    intervalMs,
    providers: providers && expandProviders(providers, parts),
    actions: {
      auto_register: actions.autoRegister,
      on_new_model: actions.onNewModel,
      on_deprecated_model: actions.onDeprecatedModel,
    },
  };
}

function buildHealth(values: HealthValues, parts: DiscoveryParts): HealthSettings {
  check(values, "health", parts);
  const { providers, ...settings } = complete(discovery.fields.health, values);
  return { ...settings, providers: providers && expandProviders(providers, parts) };
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
