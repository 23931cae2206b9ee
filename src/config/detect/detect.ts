/**
 * Detects providers in the environment, and builds settings from them.
 * @module
 */
import { addressOfHost, findModels, isPlaceholder } from "./_variables.ts";
import { describeAmbiguity } from "../check/connectors.ts";
import { everyPool } from "../schema/pools.ts";
import type { Detection as DetectionFacts, ProviderDeclaration } from "../../contracts/connector.ts";
import type { Environment } from "../../contracts/runtime.ts";
import type { SelectionStrategy } from "../../contracts/rotation.ts";
import { ConfigError, type ConfigProblem, NoProvidersError } from "../../errors.ts";
import { buildSettings } from "../build/validate.ts";
import { buildProvider } from "../build/providers.ts";
import { baseUrlProblem, credentialProblem } from "../schema/formats.ts";
import { Report, show, suggest, under } from "../schema/report.ts";
import { deepFreeze } from "../schema/tree.ts";
import { type KnownConnectors, resolveStrategy, toShortName } from "../settings/known.ts";
import { findConnectors, listProviderNames } from "../check/connectors.ts";
import { escapeReferences } from "../schema/references.ts";
import type { ProviderEntry, Settings } from "../settings/settings.ts";

interface DetectedProvider {
  readonly connector: ProviderDeclaration;
  /** The provider entry; its id is the connector's. */
  readonly entry: ProviderEntry;
  /** Name of the variable that revealed it. */
  readonly source: string;
}

interface DetectionResult {
  /** In connector order. */
  readonly providers: readonly DetectedProvider[];
  /** Names in the filter without a detected provider. */
  readonly missing: readonly string[];
  readonly warnings: readonly ConfigProblem[];
}

/**
 * Detects the providers whose environment variables are set.
 *
 * @param connectors Connectors to detect, in order of preference.
 * @param filter Vendors, connector ids or entry ids; all when omitted.
 * @throws {NoProvidersError} If there is none; the message lists the variables.
 * @throws {ConfigError} If the filter has an unknown name, or a variable has an invalid value.
 */
export function detectProviders(
  connectors: readonly ProviderDeclaration[],
  env: Environment,
  filter?: readonly string[],
): DetectionResult {
  const report = new Report();
  const named = filter?.map((name, index) => readProviderName(name, `providers[${index}]`, { connectors, report }));
  const requested = connectors.filter(({ id }) => named?.includes(id) ?? true);
  const providers = requested.flatMap((connector) => detect(connector, env, report) ?? []);
  if (report.problems.length > 0) throw new ConfigError(report.problems);
  if (providers.length === 0) throw nothingFound(requested, report.warnings, env);
  const missing = (filter ?? []).filter((_, index) =>
    !providers.some(({ connector }) => connector.id === named![index])
  );
  return { providers, missing, warnings: report.warnings };
}

/**
 * Adds API keys to an environment.
 *
 * @param apiKeys Keys by variable, vendor or connector id.
 * @throws {ConfigError} For an unknown provider.
 */
export function overlayKeys(
  connectors: readonly ProviderDeclaration[],
  env: Environment,
  apiKeys: Readonly<Record<string, string>>,
): Environment {
  const report = new Report();
  const keys = new Map<string, string>();
  const variables = connectors.flatMap(({ detection }) => detection?.keys ?? []);
  for (const [name, key] of Object.entries(apiKeys)) {
    const named = findConnectors(name, connectors);
    const targets = variables.includes(name)
      ? [name]
      : connectors.flatMap(({ id, detection }) => named.includes(id) ? detection?.keys[0] ?? [] : []);
    if (typeof key !== "string") report.problem(under("apiKeys", name), "expected a string");
    if (targets.length === 0) {
      const names = [...connectors.map(({ vendor }) => vendor), ...variables];
      report.problem(
        under("apiKeys", name),
        `no provider or variable ${show(name)}${suggest(name, [...new Set(names)])}`,
      );
    }
    for (const target of targets) keys.set(target, key);
  }
  if (report.problems.length > 0) throw new ConfigError(report.problems);
  return Object.assign((name: string) => keys.get(name) ?? env(name), {
    isDenied: (name: string) => !keys.has(name) && env.isDenied?.(name) === true,
  });
}

/**
 * The settings of detected providers. They have no pools, since pools are created on demand.
 *
 * @throws {ConfigError} For an unknown strategy or model.
 */
export function detectedSettings(detection: DetectionResult, options: {
  readonly knownConnectors: KnownConnectors;
  /** Strategy of every pool: an id, a short name, or an instance. */
  readonly strategy?: string | SelectionStrategy;
  /** The only models of on-demand pools: by name, by `<vendor>/<id>` or by upstream id. */
  readonly models?: readonly string[];
}): Settings {
  const { knownConnectors, strategy, models } = options;
  const report = new Report();
  if (typeof strategy === "string" && resolveStrategy(strategy, knownConnectors.strategies) === undefined) {
    const names = knownConnectors.strategies.map(toShortName);
    report.problem("strategy", `no strategy ${show(strategy)} is registered${suggest(strategy, names)}`);
  }
  const chosen = models?.flatMap((name, index) =>
    findModels(name, `models[${index}]`, { owners: detection.providers, report })
  );
  if (report.problems.length > 0) throw new ConfigError(report.problems);
  const settings = buildSettings(
    {
      models: new Map(chosen?.map(({ name, provider, id }) => [name, { provider, model: id }])),
      pools: new Map([[everyPool, { strategy }]]),
    },
    { knownConnectors, detected: detection.providers.map(({ entry }) => entry) },
    report,
  );
  return deepFreeze<Settings>({
    ...settings,
    only: chosen && [...new Set(chosen.map(({ name }) => name))],
    warnings: [...detection.missing.map(excluded), ...detection.warnings, ...settings.warnings],
  });
}

function excluded(name: string): ConfigProblem {
  return { path: "providers", message: `${show(name)} is excluded: it has no API key in the environment` };
}

/** Returns the connector that a name means. Reports one that means none or several. */
function readProviderName(
  name: string,
  path: string,
  { connectors, report }: { readonly connectors: readonly ProviderDeclaration[]; readonly report: Report },
): string | undefined {
  const [id, ...others] = findConnectors(name, connectors);
  if (others.length > 0) return report.problem(path, describeAmbiguity(name, [id!, ...others]));
  if (id !== undefined) return id;
  return report.problem(path, `no provider ${show(name)}${suggest(name, listProviderNames(name, connectors))}`);
}

function detect(connector: ProviderDeclaration, env: Environment, report: Report): DetectedProvider | undefined {
  const { detection } = connector;
  if (detection === undefined) return undefined;
  const host = firstSet(detection.host ?? [], env);
  // An API key does not show that a local server is running.
  if (connector.local && host === undefined) return undefined;
  const key = firstKey(detection.keys, env, report);
  const source = connector.local ? host?.variable : key?.variable ?? host?.variable;
  if (source === undefined) return undefined;
  const address = readAddress(connector, detection, { env, report });
  const required = readRequired(detection, env);
  // the other variables are needed only to construct the URL
  const missing = Object.keys(detection.requires ?? {}).filter((setting) => !Object.hasOwn(required, setting));
  if (address === undefined && missing.length > 0) {
    const variables = detection.requires![missing[0]!]!.join(" or ");
    report.warn(source, `is set, but ${variables} is not: the provider is excluded`);
    return undefined;
  }
  const entry = buildProvider(connector.id, {
    api_key: key === undefined ? [] : [escapeReferences(key.value)],
    base_url: address,
    config: required,
  });
  return { connector, entry: { ...entry, source }, source };
}

interface Variable {
  readonly variable: string;
  readonly value: string;
}

function firstSet(variables: readonly string[], env: Environment): Variable | undefined {
  for (const variable of variables) {
    const value = env(variable)?.trim() ?? "";
    if (value !== "") return { variable, value };
  }
  return undefined;
}

function firstKey(variables: readonly string[], env: Environment, report: Report): Variable | undefined {
  const key = firstSet(variables.filter((variable) => !isPlaceholder(env(variable) ?? "")), env);
  if (key === undefined) {
    const placeholder = firstSet(variables, env);
    if (placeholder !== undefined) report.warn(placeholder.variable, "is set to what looks like a placeholder");
    return undefined;
  }
  if (env(key.variable) !== key.value) report.warn(key.variable, "has whitespace around the key, which is removed");
  const problem = credentialProblem(key.value);
  if (problem !== undefined) report.problem(key.variable, problem);
  return key;
}

/** The values of further required variables. */
function readRequired({ requires = {} }: DetectionFacts, env: Environment): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [setting, variables] of Object.entries(requires)) {
    const found = firstSet(variables, env);
    if (found !== undefined) settings[setting] = escapeReferences(found.value);
  }
  return settings;
}

function readAddress(
  { local }: ProviderDeclaration,
  { baseUrl = [], host = [], port }: DetectionFacts,
  { env, report }: { readonly env: Environment; readonly report: Report },
): string | undefined {
  const found = firstSet([...baseUrl, ...host], env);
  if (found === undefined) return undefined;
  const address = local ? addressOfHost(found.value, port) : found.value;
  const problem = baseUrlProblem(address);
  if (problem !== undefined) report.problem(found.variable, problem);
  return escapeReferences(address);
}

function nothingFound(
  requested: readonly ProviderDeclaration[],
  warnings: readonly ConfigProblem[],
  { isDenied = () => false }: Environment,
): NoProvidersError {
  const variables = requested.flatMap(({ detection, local }) => {
    return (local ? detection?.host?.[0] : detection?.keys[0] ?? detection?.host?.[0]) ?? [];
  });
  const names = [...new Set(variables)];
  const denied = names.filter((name) => isDenied(name));
  const remedy = `add --allow-env=${denied[0]} (with the variables that you set), or --allow-env`;
  if (denied.length === names.length && names.length > 0) {
    return new NoProvidersError(
      `No providers were detected: this process is not permitted to read environment variables. To permit it, ${remedy}`,
    );
  }
  const notes = warnings.map(({ path, message }) => `. ${path} ${message}`).join("");
  return new NoProvidersError(
    `No providers were detected. Set at least one of ${names.join(", ")}${notes}` +
      (denied.length === 0 ? "" : `. This process is not permitted to read ${list(denied)}: ${remedy}`),
  );
}

function list(names: readonly string[]): string {
  const others = names.length - 3;
  return others > 0 ? `${names.slice(0, 3).join(", ")} and ${others} more of these` : names.join(" and ");
}
