/**
 * Builds the providers and models of the document.
 * @module
 */
import { checkCapability, checkCodes, type ConnectorOf, expandProviders, type ProviderParts } from "../check/names.ts";
import { describeAmbiguity, findConnectors, listProviderNames, readAttributes } from "../check/connectors.ts";
import type { CapabilityTree } from "../../capability/tree.ts";
import { buildTokenSettings, checkAmbient, checkAuth, checkHeaders } from "../check/auth.ts";
import { baseUrlWarning } from "../schema/formats.ts";
import { mergeBudgets } from "../schema/budget.ts";
import { nearest } from "../../util/nearest.ts";
import { findBaseModels } from "../settings/offers.ts";
import { type Report, show, suggest, under } from "../schema/report.ts";
import { defaultTimeouts } from "../settings/defaults.ts";
import type { KnownProvider } from "../settings/known.ts";
import { referencesIn } from "../schema/references.ts";
import { complete } from "../schema/complete.ts";
import { model, type ModelValues } from "../schema/models.ts";
import { provider, type ProviderValues } from "../schema/providers.ts";
import type { ConfiguredModel, ProviderEntry } from "../settings/settings.ts";
import { isPlaceholder } from "../detect/_variables.ts";
import { findRowProblems } from "../schema/prices.ts";
import { isObject } from "../../util/is_object.ts";
import { isRows } from "../../util/pricing.ts";

/** Checks each provider's connector, credentials and attributes, and fills in defaults. */
export function buildProviders(
  values: ReadonlyMap<string, ProviderValues>,
  connectors: readonly KnownProvider[],
  report: Report,
): Map<string, ProviderEntry> {
  const entries = new Map<string, ProviderEntry>();
  for (const [id, value] of values) {
    const named = buildProvider(id, value);
    const entry = { ...named, connector: resolveProvider(named, value, { connectors, report }) };
    entries.set(id, { ...entry, config: checkProvider(entry, value, { connectors, report }) });
    checkCodes(value.error, `${under("providers", id)}.error`, report);
  }
  return entries;
}

/** One entry with the defaults of a provider, not validated. */
export function buildProvider(id: string, value: ProviderValues): ProviderEntry {
  const { apiKey: apiKeys = [], auth, execution, retry, error: _, infrastructure: __, ...settings } = complete(
    provider,
    value,
  );
  const { ca, userAgent, baseUrl: ___, maxRetries: ____, ...limits } = execution;
  return {
    connector: id,
    config: {},
    ...settings,
    ...(settings.headers && { headers: toLowerCase(settings.headers) }),
    id,
    apiKeys,
    tokens: buildTokenSettings(auth),
    source: "config",
    ...limits,
    silenceMs: value.execution?.timeout ?? defaultTimeouts.silence,
    configuredSilenceMs: value.execution?.timeout,
    ...(ca === undefined ? {} : { authoritiesFile: ca }),
    ...(userAgent === "client" ? { forwardsUserAgent: true } : {}),
    retryBudget: retry.budget,
    budget: mergeBudgets([value.budget]),
  };
}

/** Header names in lower case, as connectors write them. */
function toLowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Resolves each model's provider and capabilities; omitted facts are taken from the catalogue later. */
export function buildModels(
  values: ReadonlyMap<string, ModelValues>,
  parts: {
    entries: ReadonlyMap<string, ProviderEntry>;
    connectorOf: ConnectorOf;
    connectors: readonly KnownProvider[];
    tree: CapabilityTree;
    report: Report;
  },
): Map<string, ConfiguredModel> {
  const models = new Map<string, ConfiguredModel>();
  const { entries, tree, report } = parts;
  for (const [name, named] of values) {
    const path = under("models", name);
    const value = { ...named, provider: resolveModelProvider(named, path, parts) };
    const entry = entries.get(value.provider ?? "");
    value.capabilities?.forEach((capability, index) => {
      checkCapability(capability, `${path}.capabilities[${index}]`, { tree, report });
    });
    checkPriceRows(value, path, report);
    checkFilled(value, path, report);
    const connector = entry && parts.connectorOf(entry);
    const base = value.base_model === undefined ? undefined : findBase(value.base_model, { ...parts, connector, path });
    models.set(name, { ...buildModel(name, value, connector?.vendor), ...(base && { base }) });
  }
  return models;
}

/** Finds the base model of a model; reports a name that means none, or several. */
function findBase(name: string, { connector, connectors, path, report }: {
  readonly connector: KnownProvider | undefined;
  readonly connectors: readonly KnownProvider[];
  readonly path: string;
  readonly report: Report;
}): ConfiguredModel["base"] {
  const found = findBaseModels(name, connector, connectors);
  if (found.length === 1) return { connector: found[0]!.connector.id, id: found[0]!.model.id };
  const [near] = nearest(
    name,
    connectors.flatMap(({ vendor, models }) => models.flatMap(({ id }) => [id, `${vendor}/${id}`])),
  );
  const hint = near === undefined ? ': "modelmesh models --catalogue" lists them' : `, did you mean ${show(near)}?`;
  const vendors = found.map(({ connector: { vendor } }) => `${vendor}/${name}`);
  const problem = found.length === 0
    ? `no catalogue has the model ${show(name)}${hint}`
    : `several catalogues have ${show(name)}: write ${vendors.map(show).join(" or ")}`;
  report.problem(`${path}.base_model`, problem);
}

/** Reports rows of prices that are not in order, or that apply to the same calls. */
function checkPriceRows({ pricing }: ModelValues, path: string, report: Report): void {
  if (!isRows(pricing) || report.hasProblemAt(`${path}.pricing`)) return;
  for (const { index, message } of findRowProblems(pricing)) report.problem(`${path}.pricing[${index}]`, message);
}

/** A mark on the whole prompt is set by the provider's own setting, for each vendor in its way. */
function checkFilled({ parameters }: ModelValues, path: string, report: Report): void {
  if (!isObject(parameters?.fill) || !("cache_control" in parameters.fill)) return;
  const advice = 'set "prompt_cache: {auto: true}" of its provider, which marks prompts for the cache of each vendor';
  report.problem(`${path}.parameters.fill.cache_control`, `cannot be filled in: ${advice}`);
}

/** Resolves the provider of a model: an entry, or the only one that a connector has. Reports what means none or several. */
function resolveModelProvider(
  { provider: name }: ModelValues,
  path: string,
  { entries, connectorOf, report }: ProviderParts & { readonly report: Report },
): string | undefined {
  if (name === undefined || entries.has(name)) return name;
  const [id, ...others] = expandProviders([name], { entries, connectorOf });
  if (others.length > 0) report.problem(`${path}.provider`, describeAmbiguity(name, [id!, ...others]));
  else if (id === undefined) {
    report.problem(`${path}.provider`, `no provider ${show(name)}${suggest(name, [...entries.keys()])}`);
  }
  return id ?? name;
}

/** Resolves the connector of an entry: that of its `connector`, else that of its id. Reports what means none or several. */
function resolveProvider(
  { id: name, connector, instance }: ProviderEntry,
  value: ProviderValues,
  { connectors, report }: { readonly connectors: readonly KnownProvider[]; readonly report: Report },
): string {
  const path = under("providers", name);
  if (instance !== undefined) return connector;
  if (report.hasProblemAt(`${path}.connector`) || report.hasProblemAt(`${path}.instance`)) return connector;
  const [id, ...others] = findConnectors(connector, connectors);
  const at = value.connector === undefined ? path : `${path}.connector`;
  if (others.length > 0) {
    const where = value.connector === undefined ? ': set "connector"' : "";
    report.problem(at, `${describeAmbiguity(connector, [id!, ...others])}${where}`);
  } else if (id === undefined) {
    const hint = suggest(connector, listProviderNames(connector, connectors));
    report.problem(at, `no connector ${show(connector)} is registered${hint}`);
  }
  return id ?? connector;
}

function checkProvider(
  entry: ProviderEntry,
  value: ProviderValues,
  { connectors, report }: { readonly connectors: readonly KnownProvider[]; readonly report: Report },
): ProviderEntry["config"] {
  const path = under("providers", entry.id);
  const connector = connectors.find(({ id }) => id === entry.connector);
  checkAuth(value, path, report);
  if (connector?.local !== true && connector?.needsBaseUrl !== true && entry.apiKeys.some(isPlaceholder)) {
    report.warn(`${path}.api_key`, "is what looks like a placeholder: the provider will refuse it");
  }
  const own = entry.instance === undefined ? connector : undefined;
  checkAmbient(value, { path, connector: own, connectors }, report);
  if (value.headers !== undefined) checkHeaders(value, { path, connector: own }, report);
  const declared = own?.attributes;
  const config = readAttributes(entry.config, { path: `${path}.config`, connector: entry.connector, declared, report });
  const { baseUrl } = entry;
  const needsAddress = connector?.needsBaseUrl && entry.enabled && entry.instance === undefined;
  if (needsAddress && baseUrl === undefined && !report.hasProblemAt(path)) {
    report.problem(`${path}.base_url`, `missing: the connector "${connector.id}" has no default URL`);
  }
  if (baseUrl === undefined || referencesIn(baseUrl).names.length > 0) return config;
  const warning = baseUrlWarning(baseUrl, entry.apiKeys.length > 0 || entry.tokens !== undefined);
  if (warning !== undefined) report.warn(`${path}.base_url`, warning);
  return config;
}

function buildModel(name: string, value: ModelValues, vendor: string | undefined): ConfiguredModel {
  const prefix = `${vendor}.`;
  const { model: id, batch, baseModel: _, ...settings } = complete(model, value);
  return {
    ...settings,
    name,
    id: id ?? (name.startsWith(prefix) && name !== prefix ? name.slice(prefix.length) : name),
    ...(batch === undefined ? {} : { batch: { ...batch, polling: batch.polling ?? batch.callback } }),
  };
}
