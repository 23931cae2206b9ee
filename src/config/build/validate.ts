/**
 * Validates a document and builds its settings; reports all errors at once.
 * @module
 */
import { ConfigError } from "../../errors.ts";
import { quoted, Report, type ScalarSecrets, show, suggest, under } from "../schema/report.ts";
import { copyTree, deepFreeze, inspectTree } from "../schema/tree.ts";
import { parse } from "../schema/parse.ts";
import { type DocumentValues, type PackageValues, schema } from "../schema/schema.ts";
import type { DeferredSettings, PoolSettings, ProviderEntry, Settings } from "../settings/settings.ts";
import { type CapabilityTree, capabilityTree } from "../../capability/tree.ts";
import { buildPools } from "./pools.ts";
import { buildModels, buildProviders } from "./providers.ts";
import { buildCache, buildDiscovery, buildObservability, buildSecrets, buildStorage } from "./sections.ts";
import { buildGuards } from "./guards.ts";
import { buildLimits, buildProxy, findPoolNames, isLimited } from "./proxy.ts";
import { checkConditions } from "../check/conditions.ts";
import { checkBudgets } from "../check/contradictions.ts";
import { checkMembers } from "../check/members.ts";
import { Members } from "../check/pool_members.ts";
import { ModelNames } from "../check/names.ts";
import { hasLimitList, mergeBudgets } from "../schema/budget.ts";
import type { KnownConnectors } from "../settings/known.ts";

/**
 * Validates a document, and returns complete settings. If secrets stand for numbers or booleans, the settings have
 * sample values for these until their `deferred` is resolved.
 *
 * @param document The parsed file, or an object.
 * @throws {ConfigError} If the document is invalid; lists every problem with its path.
 *
 * @example
 * ```ts
 * import { groupConnectors } from "../settings/known.ts";
 *
 * validate({ pools: { "chat-completion": { strategy: "round-robin" } } }, { knownConnectors: groupConnectors([]) });
 * ```
 */
export function validate(document: unknown, options: BuildOptions): Settings {
  return validateWith(document, options, undefined);
}

function validateWith(document: unknown, options: BuildOptions, secrets: ScalarSecrets | undefined): Settings {
  const report = new Report(secrets);
  if (!inspectTree(document, report)) throw new ConfigError(report.problems, options.source);
  if (document === null || document === undefined) report.problem("", "expected an object, found nothing");
  const values = parse(schema, document, { path: "", report }) ?? {};
  const unread = report.problems.length;
  const settings = buildSettings(values, options, report);
  const { names } = report.deferred;
  const problems = [...report.problems.slice(0, unread), ...report.independent(report.problems.slice(unread))];
  if (problems.length > 0) throw new ConfigError(problems, options.source);
  if (settings.storage === undefined && names.size === 0) return settings;
  const copy = copyTree(document, () => {}, ""); // the program may modify its own object
  return Object.freeze({
    ...settings,
    warnings: report.independent(report.warnings),
    ...(settings.storage === undefined ? {} : { document: copy }),
    ...(names.size === 0 ? {} : { deferred: new Deferred(copy, options, names) }),
  });
}

/** An instance, so that freezing settings leaves it as it is. */
class Deferred implements DeferredSettings {
  readonly names: readonly string[];
  readonly #document: unknown;
  readonly #options: BuildOptions;

  constructor(document: unknown, options: BuildOptions, names: Iterable<string>) {
    this.names = [...names];
    this.#document = document;
    this.#options = options;
  }

  resolve(secrets: ScalarSecrets): Settings {
    return validateWith(this.#document, this.#options, secrets);
  }
}

/** What a document may refer to. */
interface BuildOptions {
  readonly source?: string;
  readonly knownConnectors: KnownConnectors;
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
  const secrets = buildSecrets(values.secrets ?? {}, options.knownConnectors, report);
  const storage = buildStorage(values.storage, options.knownConnectors, report);
  const names = { pools: domain.pools, models: domain.names, aliases, tree, teams: values.teams, report };
  const proxy = buildProxy(values.proxy ?? {}, names);
  const guards = buildGuards(values, options.knownConnectors, report);
  const cache = values.cache && buildCache(values.cache, {
    document: values,
    findPoolNames: (name, path) => findPoolNames(name, path, names),
    knownConnectors: options.knownConnectors,
    report,
  });
  return deepFreeze<Settings>({
    source: options.source,
    secrets,
    providers: domain.entries,
    models: domain.models,
    pools: domain.pools,
    defaultRouting: domain.defaultRouting,
    defaultBudget: domain.defaultBudget,
    budget: mergeBudgets([values.budget]),
    hasLimitLists: hasLimitList(values),
    hasLimits: (values.teams ?? values.tags ?? values.users) !== undefined || proxy.clients.some(isLimited),
    ...((values.teams ?? values.tags ?? values.users) && buildLimits(values, names)),
    storage,
    health: domain.health,
    sync: domain.sync,
    catalogue: domain.catalogue,
    ...(guards && { guards }),
    ...(cache && { cache }),
    aliases,
    capabilities: values.capabilities ?? [],
    proxy,
    deadlineMs: proxy.requestTimeoutMs,
    observability: buildObservability(values.observability ?? {}, {
      knownConnectors: options.knownConnectors,
      hasStorage: values.storage !== undefined,
      report,
    }),
    warnings: report.warnings,
  });
}

interface DomainParts {
  readonly tree: CapabilityTree;
  readonly report: Report;
}

function buildDomain(
  values: DocumentValues,
  { knownConnectors, detected }: BuildOptions,
  { tree, report }: DomainParts,
) {
  const entries = values.providers === undefined && detected !== undefined
    ? new Map(detected.map((entry) => [entry.id, entry]))
    : buildProviders(values.providers ?? new Map(), knownConnectors.providers, report);
  const connectors = new Map(knownConnectors.providers.map((connector) => [connector.id, connector]));
  function findEntryConnector(entry: ProviderEntry) {
    return entry.instance === undefined ? connectors.get(entry.connector) : undefined;
  }
  const providers = { entries, connectors: knownConnectors.providers, connectorOf: findEntryConnector };
  const models = buildModels(values.models ?? new Map(), { ...providers, tree, report });
  const names = new ModelNames({
    entries,
    findConnector: findEntryConnector,
    connectors: knownConnectors.providers,
    configured: models,
    aliases: values.aliases ?? new Map(),
    isRenewed: values.discovery?.catalogue !== undefined,
  });
  const discovery = buildDiscovery(values.discovery ?? {}, {
    entries,
    connectorOf: findEntryConnector,
    knownConnectors,
    report,
  });
  const { health } = discovery;
  const routed = buildPools(values.pools ?? new Map(), {
    entries,
    connectorOf: findEntryConnector,
    providerValues: values.providers ?? new Map(),
    models: names,
    tree,
    strategies: knownConnectors.strategies,
    hasHealthProbes: health.intervalMs !== undefined && health.enabled,
    report,
  });
  const members = new Members({ ...providers, models, names, tree });
  checkBudgets(values, { members, pools: routed.pools, report });
  if (report.problems.length === 0) {
    const parts = { entries, connectorOf: findEntryConnector, members, pools: routed.pools, report };
    checkMembers(values, { ...parts, health });
    checkConditions(values, { ...parts, models, tree, knownConnectors });
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
    const address = [path, url].find((location) => location !== undefined && /^https?:/i.test(location));
    if (address === undefined || sha256 !== undefined) return;
    report.warn(at, 'has no "sha256": the server at this URL determines which code runs here');
  });
}

function checkAliases(
  aliases: ReadonlyMap<string, string>,
  { pools, names }: { pools: ReadonlyMap<string, PoolSettings>; names: ModelNames },
  { tree, report }: DomainParts,
): void {
  for (const [alias, target] of aliases) {
    const path = under("aliases", alias);
    if (pools.has(alias)) report.warn(path, "has no effect: a pool has this name");
    if (alias.includes("*")) report.warn(path, "stands for this name only: an alias is not a pattern");
    if (alias === target) report.problem(path, "points at itself");
    else if (pools.has(target) || names.has(target) || tree.resolve(target) !== undefined) continue;
    else if (aliases.has(target)) report.problem(path, `points at the alias ${show(target)}: aliases do not chain`);
    else report.problem(path, `no pool or model ${show(target)}${suggest(target, [...pools.keys(), ...names.all()])}`);
  }
}
