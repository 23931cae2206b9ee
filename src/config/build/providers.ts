/**
 * Builds the providers and models of the document.
 * @module
 */
import { checkCapability, checkCodes, type ConnectorOf, expandProviders, type ProviderParts } from "../check/names.ts";
import type { CapabilityTree } from "../../capability/tree.ts";
import { readAttributes } from "../check/attributes.ts";
import { buildTokenSettings, checkAuth } from "../check/auth.ts";
import { baseUrlWarning } from "../schema/formats.ts";
import { mergeBudgets } from "../schema/money.ts";
import { type Report, show, suggest, under } from "../schema/report.ts";
import { defaultTimeouts } from "../settings/defaults.ts";
import type { KnownProvider } from "../settings/known.ts";
import { referencesIn } from "../schema/references.ts";
import { complete } from "../schema/complete.ts";
import { model, type ModelValues } from "../schema/models.ts";
import { provider, type ProviderValues } from "../schema/providers.ts";
import type { ConfiguredModel, InfrastructureSettings, ProviderEntry, ProviderQueries } from "../settings/settings.ts";
import { findRowProblems, isRows } from "../../util/pricing.ts";

/** Checks each provider's connector, credentials and attributes, and fills in defaults. */
export function buildProviders(
  values: ReadonlyMap<string, ProviderValues>,
  known: readonly KnownProvider[],
  report: Report,
): Map<string, ProviderEntry> {
  const entries = new Map<string, ProviderEntry>();
  for (const [id, value] of values) {
    const entry = buildProvider(id, value);
    entries.set(id, { ...entry, config: checkProvider(entry, value, known, report) });
    checkCodes(value.error, `${under("providers", id)}.error`, report);
  }
  return entries;
}

/** One entry with the defaults of a provider, not validated. */
export function buildProvider(id: string, value: ProviderValues): ProviderEntry {
  const { enabled, auth, execution: section, retry } = complete(provider, value);
  const { ca, baseUrl, userAgent, maxRetries: _, ...execution } = section;
  return {
    id,
    connector: value.connector ?? id,
    instance: value.instance,
    enabled,
    apiKeys: value.api_key ?? value.auth?.api_key ?? [],
    tokens: buildTokenSettings(auth),
    baseUrl: value.base_url ?? baseUrl,
    source: "config",
    ...execution,
    silenceMs: value.execution?.timeout ?? defaultTimeouts.silence,
    ...(ca === undefined ? {} : { authoritiesFile: ca }),
    ...(userAgent === "client" ? { forwardsUserAgent: true } : {}),
    retryBudget: retry.budget,
    budget: mergeBudgets([value.budget]),
    enumerateModels: value.discovery?.enumerate_models ?? value.catalogue?.auto_discover,
    refreshMs: value.catalogue?.refresh_interval,
    queries: buildQueries(value),
    infrastructure: buildInfrastructure(value),
    quotaReset: value.quota?.reset_schedule,
    config: value.config ?? {},
  };
}

function buildQueries({ discovery, pricing, quota }: ProviderValues): ProviderQueries | undefined {
  const queries = {
    details: discovery?.model_details,
    capabilities: discovery?.capability_query,
    pricing: pricing?.query,
    quota: quota?.query_current || quota?.query_remaining,
  };
  return Object.values(queries).includes(true) ? queries : undefined;
}

function buildInfrastructure(
  { batch, files, fine_tuning, infrastructure }: ProviderValues,
): InfrastructureSettings | undefined {
  const settings = {
    files: files?.upload ?? infrastructure?.files,
    maxFileBytes: files?.max_size,
    batch: batch?.supported ?? infrastructure?.batch,
    maxItems: batch?.max_items,
    fineTuning: fine_tuning?.supported ?? infrastructure?.fine_tuning,
  };
  return Object.values(settings).every((one) => one === undefined) ? undefined : settings;
}

/** Resolves each model's provider and capabilities; omitted facts are taken from the catalogue later. */
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
    checkModelProvider(value, path, parts);
    const entry = entries.get(value.provider ?? "");
    value.capabilities?.forEach((capability, index) => {
      checkCapability(capability, `${path}.capabilities[${index}]`, tree, report);
    });
    checkPriceRows(value, path, report);
    models.set(name, buildModel(name, value, entry && parts.connectorOf(entry)?.vendor));
  }
  return models;
}

/** Reports rows of prices that are not in order, or that apply to the same calls. */
function checkPriceRows({ pricing }: ModelValues, path: string, report: Report): void {
  if (!isRows(pricing) || report.hasProblemAt(`${path}.pricing`)) return;
  for (const { index, message } of findRowProblems(pricing)) report.problem(`${path}.pricing[${index}]`, message);
}

/** Reports a provider that does not exist. A vendor or connector is answered with the entries that have it. */
function checkModelProvider(
  { provider: name }: ModelValues,
  path: string,
  { entries, connectorOf, report }: ProviderParts & { readonly report: Report },
): void {
  if (name === undefined || entries.has(name)) return;
  const meant = expandProviders([name], { entries, connectorOf }).filter((id) => !id.startsWith(`${name}.`));
  const hint = meant.length === 0 ? suggest(name, [...entries.keys()]) : `: write ${meant.map(show).join(" or ")}`;
  report.problem(`${path}.provider`, `no provider ${show(name)}${hint}`);
}

function checkProvider(
  entry: ProviderEntry,
  value: ProviderValues,
  known: readonly KnownProvider[],
  report: Report,
): ProviderEntry["config"] {
  const path = under("providers", entry.id);
  const connector = known.find(({ id }) => id === entry.connector);
  const hasProblemAt = report.hasProblemAt(`${path}.connector`) || report.hasProblemAt(`${path}.instance`);
  if (connector === undefined && entry.instance === undefined && !hasProblemAt) {
    const connectorPath = value.connector === undefined ? path : `${path}.connector`;
    const names = known.map(({ id }) => id);
    const meant = known.find(({ vendor }) => vendor === entry.connector)?.id;
    const written = value.connector === undefined
      ? `name the entry "${meant}", or add "connector: ${meant}"`
      : `write "${meant}"`;
    const hint = meant === undefined ? suggest(entry.connector, names) : `: ${written}`;
    report.problem(connectorPath, `no connector ${show(entry.connector)} is registered${hint}`);
  }
  checkAuth(value, path, report);
  const declared = entry.instance === undefined ? connector?.attributes : undefined;
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
  const { weight, batch, embeddingSpace, responseFormats } = complete(model, value);
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
    ...(batch === undefined ? {} : { batch: { ...batch, polling: batch.polling ?? batch.callback } }),
    weight,
    ...(embeddingSpace === undefined ? {} : { embeddingSpace }),
    ...(value.voices === undefined ? {} : { voices: Object.fromEntries(value.voices) }),
    ...(responseFormats === undefined ? {} : { responseFormats }),
    parameters: value.parameters,
  };
}
