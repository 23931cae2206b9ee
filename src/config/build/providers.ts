/**
 * Providers and models of the document.
 * @module
 */
import type { CapabilityTree } from "../../capability/tree.ts";
import { capabilityProblem } from "../check/capability_names.ts";
import { checkAttributes } from "../check/attributes.ts";
import { checkAuth, tokensOf } from "../check/auth.ts";
import { baseUrlWarning } from "../schema/formats.ts";
import { budgetOf } from "../schema/money.ts";
import { type Report, show, suggest, under } from "../schema/report.ts";
import { defaultRetryBudget, defaultTimeouts, defaultWeight } from "../settings/defaults.ts";
import type { KnownProvider } from "../settings/known.ts";
import { referencesIn } from "../schema/references.ts";
import type { ModelValues } from "../schema/models.ts";
import type { CodeValues, ProviderValues } from "../schema/providers.ts";
import type { ConfiguredModel, ProviderEntry } from "../settings/settings.ts";

/** An entry's connector; undefined for an instance and for one that is not registered. */
export type ConnectorOf = (entry: ProviderEntry) => KnownProvider | undefined;

/** The providers there are. */
export interface ProviderParts {
  /** By entry id, in order. */
  readonly entries: ReadonlyMap<string, ProviderEntry>;
  /** Their connectors. */
  readonly connectorOf: ConnectorOf;
}

/**
 * The providers of the document.
 *
 * @param values As read.
 * @param known Connectors there are.
 * @param report Where problems go.
 */
export function buildProviders(
  values: ReadonlyMap<string, ProviderValues>,
  known: readonly KnownProvider[],
  report: Report,
): Map<string, ProviderEntry> {
  const entries = new Map<string, ProviderEntry>();
  for (const [id, value] of values) {
    const entry = buildProvider(id, value);
    entries.set(id, entry);
    checkProvider(entry, value, known, report);
    checkCodes(value.error, `${under("providers", id)}.error`, report);
  }
  return entries;
}

/**
 * An entry with the defaults of a provider.
 *
 * @param id The entry's id.
 * @param value As read.
 */
export function buildProvider(id: string, value: ProviderValues): ProviderEntry {
  const { execution, retry } = value;
  return {
    id,
    connector: value.connector ?? id,
    instance: value.instance,
    enabled: value.enabled ?? true,
    apiKeys: value.api_key ?? value.auth?.api_key ?? [],
    tokens: tokensOf(value.auth),
    baseUrl: value.base_url ?? execution?.base_url,
    source: "config",
    timeoutMs: execution?.timeout ?? defaultTimeouts.answer,
    silenceMs: execution?.timeout ?? defaultTimeouts.silence,
    connectTimeoutMs: execution?.connect_timeout ?? defaultTimeouts.connect,
    retryBudget: {
      ratio: retry?.budget?.ratio ?? defaultRetryBudget.ratio,
      min: retry?.budget?.min ?? defaultRetryBudget.min,
      windowMs: retry?.budget?.window ?? defaultRetryBudget.windowMs,
    },
    budget: budgetOf([value.budget]),
    enumerateModels: value.discovery?.enumerate_models ?? value.catalogue?.auto_discover,
    quotaReset: value.quota?.reset_schedule,
    config: value.config ?? {},
  };
}

/**
 * Entry ids by name; a connector's id or a vendor stands for all of its entries.
 *
 * @param names As written; one that stands for none is left out.
 * @param parts The providers there are.
 */
export function expandProviders(
  names: readonly string[] | undefined,
  { entries, connectorOf }: ProviderParts,
): string[] {
  const ids = (names ?? []).flatMap((name) => {
    if (entries.has(name)) return [name];
    const meant = [...entries.values()].filter((entry) => {
      return entry.connector === name || connectorOf(entry)?.vendor === name;
    });
    return meant.map(({ id }) => id);
  });
  return [...new Set(ids)];
}

/**
 * Reports names that stand for no provider.
 *
 * @param names As written.
 * @param path Where they stand.
 * @param parts The providers there are, and where problems go.
 */
export function checkProviders(
  names: readonly string[] | undefined,
  path: string,
  { entries, connectorOf, report }: ProviderParts & { readonly report: Report },
): void {
  names?.forEach((name, index) => {
    if (expandProviders([name], { entries, connectorOf }).length > 0) return;
    report.problem(`${path}[${index}]`, `no provider ${show(name)}${suggest(name, [...entries.keys()])}`);
  });
}

/**
 * Reports statuses that are in both lists.
 *
 * @param codes The lists.
 * @param path Where they stand.
 * @param report Where problems go.
 */
export function checkCodes(codes: CodeValues | undefined, path: string, report: Report): void {
  const both = new Set(codes?.retryable_codes?.filter((code) => codes.non_retryable_codes?.includes(code)));
  if (both.size > 0) {
    report.problem(
      `${path}.non_retryable_codes`,
      `${[...both].join(", ")} ${both.size === 1 ? "is" : "are"} in "retryable_codes" too: give each once`,
    );
  }
}

/**
 * The models of the document.
 *
 * @param values As read.
 * @param parts What they refer to, and where problems go.
 */
export function buildModels(
  values: ReadonlyMap<string, ModelValues>,
  parts: {
    entries: ReadonlyMap<string, ProviderEntry>;
    connectorOf: ConnectorOf;
    tree: CapabilityTree;
    report: Report;
  },
): Map<string, ConfiguredModel> {
  const models = new Map<string, ConfiguredModel>();
  const { entries, tree, report } = parts;
  for (const [name, value] of values) {
    const path = under("models", name);
    const { provider = "" } = value;
    const entry = entries.get(provider);
    if (value.provider !== undefined && entry === undefined) {
      report.problem(`${path}.provider`, `no provider ${show(provider)}${suggest(provider, [...entries.keys()])}`);
    }
    value.capabilities?.forEach((capability, index) => {
      checkCapability(capability, `${path}.capabilities[${index}]`, tree, report);
    });
    models.set(name, buildModel(name, value, entry && parts.connectorOf(entry)?.vendor));
  }
  return models;
}

/**
 * Reports a name that stands for no one node of the capability tree.
 *
 * @param name As written.
 * @param path Where it stands.
 * @param tree The tree.
 * @param report Where problems go.
 */
export function checkCapability(name: string, path: string, tree: CapabilityTree, report: Report): void {
  const problem = capabilityProblem(name, tree);
  if (problem !== undefined) report.problem(path, problem);
}

function checkProvider(
  entry: ProviderEntry,
  value: ProviderValues,
  known: readonly KnownProvider[],
  report: Report,
): void {
  const path = under("providers", entry.id);
  const connector = known.find(({ id }) => id === entry.connector);
  const isBlamed = report.isBlamed(`${path}.connector`) || report.isBlamed(`${path}.instance`);
  if (connector === undefined && entry.instance === undefined && !isBlamed) {
    const connectorPath = value.connector === undefined ? path : `${path}.connector`;
    const names = known.map(({ id }) => id);
    report.problem(
      connectorPath,
      `no connector ${show(entry.connector)} is registered${suggest(entry.connector, names)}`,
    );
  }
  checkAuth(value, path, report);
  const declared = entry.instance === undefined ? connector?.attributes : undefined;
  checkAttributes(entry.config, { path: `${path}.config`, connector: entry.connector, declared, report });
  const { baseUrl } = entry;
  const needsAddress = connector?.needsBaseUrl && entry.enabled && entry.instance === undefined;
  if (needsAddress && baseUrl === undefined && !report.isBlamed(path)) {
    report.problem(`${path}.base_url`, `missing: the connector "${connector.id}" has no address of its own`);
  }
  if (baseUrl === undefined || referencesIn(baseUrl).names.length > 0) return;
  const warning = baseUrlWarning(baseUrl, entry.apiKeys.length > 0 || entry.tokens !== undefined);
  if (warning !== undefined) report.warn(`${path}.base_url`, warning);
}

function buildModel(name: string, value: ModelValues, vendor: string | undefined): ConfiguredModel {
  const prefix = `${vendor}.`;
  return {
    name,
    provider: value.provider ?? "",
    id: value.model ?? (name.startsWith(prefix) && name !== prefix ? name.slice(prefix.length) : name),
    capabilities: value.capabilities,
    delivery: value.delivery ?? {},
    features: value.features ?? {},
    constraints: value.constraints ?? {},
    pricing: value.pricing,
    limits: value.limits ?? {},
    weight: value.weight ?? defaultWeight,
    parameters: value.parameters,
  };
}
