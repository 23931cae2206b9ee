/**
 * From what was read to settings.
 * @module
 */
import { type CapabilityTree, capabilityTree } from "../capability/tree.ts";
import { ConfigError } from "../errors.ts";
import { buildPools } from "./_build_pools.ts";
import { buildModels, buildProviders } from "./_build_providers.ts";
import { buildHealth, buildObservability, buildProxy, buildSecrets } from "./_build_sections.ts";
import { buildStorage } from "./_build_storage.ts";
import { checkBudgets } from "./_check_budgets.ts";
import { checkMembers } from "./_check_members.ts";
import { Members } from "./_members.ts";
import { ModelNames } from "./_model_names.ts";
import { budgetOf } from "./_money.ts";
import { type Report, show, suggest, under } from "./_report.ts";
import { deepFreeze } from "./_tree.ts";
import { defaultDeadlineMs, defaultMaxRetries } from "./defaults.ts";
import type { KnownConnectors } from "./known.ts";
import type { DocumentValues } from "./schema.ts";
import type { PoolSettings, ProviderEntry, Settings } from "./settings.ts";

/** What a document is validated against. */
export interface BuildOptions {
  /** Where it came from, for messages. */
  readonly source?: string;
  /** The connectors it may name. */
  readonly known: KnownConnectors;
  /** Providers found in the environment, for a document that has no `providers`. */
  readonly detected?: readonly ProviderEntry[];
}

/**
 * Checks what refers to something else, and fills in what was left out.
 *
 * @param values As read.
 * @param options What they are checked against.
 * @param report Where problems go; with any, the settings do not hold.
 */
export function buildSettings(values: DocumentValues, options: BuildOptions, report: Report): Settings {
  const tree = buildTree(values.capabilities ?? [], report);
  const domain = buildDomain(values, options, { tree, report });
  checkAliases(values.aliases ?? new Map(), domain, { tree, report });
  return deepFreeze<Settings>({
    source: options.source,
    secrets: buildSecrets(values.secrets ?? {}, options.known, report),
    providers: domain.entries,
    models: domain.models,
    pools: domain.pools,
    defaultRouting: domain.defaultRouting,
    defaultBudget: domain.defaultBudget,
    budget: budgetOf([values.budget]),
    storage: buildStorage(values.storage, options.known, report),
    health: domain.health,
    aliases: values.aliases ?? new Map(),
    capabilities: values.capabilities ?? [],
    proxy: buildProxy(values.proxy ?? {}, report),
    deadlineMs: values.proxy?.request_timeout ?? defaultDeadlineMs,
    observability: buildObservability(values.observability?.routing ?? [], options.known, report),
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
  function connectorOf(entry: ProviderEntry) {
    return entry.instance === undefined ? connectors.get(entry.connector) : undefined;
  }
  const models = buildModels(values.models ?? new Map(), { entries, connectorOf, tree, report });
  const names = new ModelNames(entries, connectorOf, models);
  const health = buildHealth(values.discovery?.health ?? {}, { entries, connectorOf, report });
  const routed = buildPools(values.pools ?? new Map(), {
    entries,
    connectorOf,
    codesOf: (provider) => values.providers?.get(provider)?.error,
    retriesOf: (provider) => values.providers?.get(provider)?.execution?.max_retries ?? defaultMaxRetries,
    models: names,
    tree,
    strategies: known.strategies,
    hasHealthProbes: health.intervalMs !== undefined && health.enabled,
    report,
  });
  const members = new Members({ entries, connectorOf, models, tree });
  checkBudgets(values, { members, pools: routed.pools, report });
  if (report.problems.length === 0) {
    checkMembers(values, { entries, connectorOf, members, health, pools: routed.pools, report });
  }
  return { entries, models, names, health, ...routed };
}

/** The tree with the document's own leaves; without those that do not hold, so that one mistake is one problem. */
function buildTree(custom: readonly string[], report: Report): CapabilityTree {
  try {
    return capabilityTree(custom);
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error;
    report.problems.push(...error.problems);
    const bad = new Set(error.problems.map(({ path }) => path));
    return capabilityTree(custom.filter((_, place) => !bad.has(`capabilities[${place}]`)));
  }
}

function checkAliases(
  aliases: ReadonlyMap<string, string>,
  { pools, names }: { pools: ReadonlyMap<string, PoolSettings>; names: ModelNames },
  { tree, report }: Shared,
): void {
  for (const [alias, target] of aliases) {
    const path = under("aliases", alias);
    if (pools.has(alias)) report.warn(path, "is never used: a pool has this name");
    if (alias === target) report.problem(path, "points at itself");
    else if (pools.has(target) || names.answersTo(target) || tree.resolve(target) !== undefined) continue;
    else if (aliases.has(target)) report.problem(path, `points at the alias ${show(target)}: aliases do not chain`);
    else report.problem(path, `no pool or model ${show(target)}${suggest(target, [...pools.keys(), ...names.all()])}`);
  }
}
