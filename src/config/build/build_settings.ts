/**
 * Builds settings from the parsed document.
 * @module
 */
import { type CapabilityTree, capabilityTree } from "../../capability/tree.ts";
import { ConfigError } from "../../errors.ts";
import { buildPools } from "./pools.ts";
import { buildModels, buildProviders } from "./providers.ts";
import { buildDiscovery } from "./_discovery.ts";
import { buildObservability } from "./_observability.ts";
import { buildProxy, buildSecrets } from "./_sections.ts";
import { buildStorage } from "./_storage.ts";
import { checkConditions } from "../check/conditions.ts";
import { checkBudgets } from "../check/budgets.ts";
import { checkMembers } from "../check/members.ts";
import { Members } from "../check/pool_members.ts";
import { ModelNames } from "../check/model_names.ts";
import { mergeBudgets } from "../schema/money.ts";
import { quoted, type Report, show, suggest, under } from "../schema/report.ts";
import { deepFreeze } from "../schema/tree.ts";
import type { KnownConnectors } from "../settings/known.ts";
import type { DocumentValues, PackageValues } from "../schema/schema.ts";
import type { PoolSettings, ProviderEntry, Settings } from "../settings/settings.ts";

/** What a document may refer to. */
export interface BuildOptions {
  readonly source?: string;
  readonly known: KnownConnectors;
  /** Providers detected in the environment, for a document without `providers`. */
  readonly detected?: readonly ProviderEntry[];
}

/**
 * Resolves references between sections, and fills in defaults.
 *
 * @param report Collects problems; if it has any, the returned settings are invalid.
 */
export function buildSettings(values: DocumentValues, options: BuildOptions, report: Report): Settings {
  const tree = buildTree(values.capabilities ?? [], report);
  const domain = buildDomain(values, options, { tree, report });
  checkAliases(values.aliases ?? new Map(), domain, { tree, report });
  checkPackages(values.connectors?.packages ?? [], report);
  const aliases = values.aliases ?? new Map<string, string>();
  const secrets = buildSecrets(values.secrets ?? {}, options.known, report);
  const storage = buildStorage(values.storage, options.known, report);
  const proxy = buildProxy(values.proxy ?? {}, { pools: domain.pools, aliases, tree, report });
  return deepFreeze<Settings>({
    source: options.source,
    secrets,
    providers: domain.entries,
    models: domain.models,
    pools: domain.pools,
    defaultRouting: domain.defaultRouting,
    defaultBudget: domain.defaultBudget,
    budget: mergeBudgets([values.budget]),
    storage,
    health: domain.health,
    sync: domain.sync,
    aliases,
    capabilities: values.capabilities ?? [],
    proxy,
    deadlineMs: proxy.requestTimeoutMs,
    observability: buildObservability(values.observability ?? {}, {
      known: options.known,
      hasStorage: values.storage !== undefined,
      report,
    }),
    warnings: report.warnings,
  });
}

interface Shared {
  readonly tree: CapabilityTree;
  readonly report: Report;
}

function buildDomain(values: DocumentValues, { known, detected }: BuildOptions, { tree, report }: Shared) {
  const entries = values.providers === undefined && detected !== undefined
    ? new Map(detected.map((entry) => [entry.id, entry]))
    : buildProviders(values.providers ?? new Map(), known.providers, report);
  const connectors = new Map(known.providers.map((connector) => [connector.id, connector]));
  function findEntryConnector(entry: ProviderEntry) {
    return entry.instance === undefined ? connectors.get(entry.connector) : undefined;
  }
  const models = buildModels(values.models ?? new Map(), { entries, connectorOf: findEntryConnector, tree, report });
  const names = new ModelNames({
    entries,
    findConnector: findEntryConnector,
    configured: models,
    aliases: values.aliases ?? new Map(),
  });
  const discovery = buildDiscovery(values.discovery ?? {}, { entries, connectorOf: findEntryConnector, known, report });
  const { health } = discovery;
  const routed = buildPools(values.pools ?? new Map(), {
    entries,
    connectorOf: findEntryConnector,
    providerValues: values.providers ?? new Map(),
    models: names,
    tree,
    strategies: known.strategies,
    hasHealthProbes: health.intervalMs !== undefined && health.enabled,
    report,
  });
  const members = new Members({ entries, connectorOf: findEntryConnector, models, names, tree });
  checkBudgets(values, { members, pools: routed.pools, report });
  if (report.problems.length === 0) {
    const parts = { entries, connectorOf: findEntryConnector, members, pools: routed.pools, report };
    checkMembers(values, { ...parts, health });
    checkConditions(values, { ...parts, models, tree, known });
  }
  return { entries, models, names, ...discovery, ...routed };
}

/**
 * The capability tree with the document's own leaves. Invalid ones are excluded, so that each error is reported once.
 */
function buildTree(custom: readonly string[], report: Report): CapabilityTree {
  const builtIn = capabilityTree();
  if (custom.length === 0) return builtIn;
  custom.forEach((path, index) => {
    const hidden = builtIn.matches(path).filter((node) => node !== path);
    if (hidden.length === 0) return;
    report.problem(`capabilities[${index}]`, `${show(path)} stands for ${quoted(hidden)}: use another path`);
  });
  try {
    return capabilityTree(custom);
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error;
    report.problems.push(...error.problems);
    const bad = new Set(error.problems.map(({ path }) => path));
    return capabilityTree(custom.filter((_, index) => !bad.has(`capabilities[${index}]`)));
  }
}

/** Packages are loaded first, since other sections may refer to connectors in them. */
function checkPackages(entries: readonly (string | PackageValues)[], report: Report): void {
  entries.forEach((entry, index) => {
    const { path, url, sha256 }: PackageValues = typeof entry === "string" ? { path: entry } : entry;
    const at = `connectors.packages[${index}]`;
    if ((path === undefined) === (url === undefined)) report.problem(at, 'expected either "path" or "url"');
    const address = [path, url].find((one) => one !== undefined && /^https?:/i.test(one));
    if (address === undefined || sha256 !== undefined) return;
    report.warn(at, 'has no "sha256": the server at this URL determines which code runs here');
  });
}

function checkAliases(
  aliases: ReadonlyMap<string, string>,
  { pools, names }: { pools: ReadonlyMap<string, PoolSettings>; names: ModelNames },
  { tree, report }: Shared,
): void {
  for (const [alias, target] of aliases) {
    const path = under("aliases", alias);
    if (pools.has(alias)) report.warn(path, "has no effect: a pool has this name");
    if (alias === target) report.problem(path, "points at itself");
    else if (pools.has(target) || names.has(target) || tree.resolve(target) !== undefined) continue;
    else if (aliases.has(target)) report.problem(path, `points at the alias ${show(target)}: aliases do not chain`);
    else report.problem(path, `no pool or model ${show(target)}${suggest(target, [...pools.keys(), ...names.all()])}`);
  }
}
