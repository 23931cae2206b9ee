/**
 * Resolves the secret references of settings.
 * @module
 */
import { ConfigError, SecretNotFoundError } from "../../errors.ts";
import { checkTokens } from "../check/auth.ts";
import {
  baseUrlProblem,
  credentialProblem,
  headerProblem,
  hostProblem,
  originProblem,
  secretProblem,
} from "../schema/formats.ts";
import { Report, under } from "../schema/report.ts";
import { deepFreeze, isPlainObject } from "../schema/tree.ts";
import { proxy as section } from "../schema/proxy.ts";
import { referencesIn, resolveReferences } from "../schema/references.ts";
import type { ProviderEntry, ProxySettings, Settings } from "../settings/settings.ts";

type SecretsByName = ReadonlyMap<string, string>;

/**
 * Resolves the secret references of a provider entry.
 *
 * @param get See {@linkcode Get}.
 * @throws {SecretNotFoundError} If secrets are missing; lists all of them.
 * @throws {ConfigError} If a resolved key, token or URL is invalid.
 */
export async function resolveEntry(
  id: string,
  { providers, secrets, source }: Settings,
  get: Get,
): Promise<{ entry: ProviderEntry; secrets: Iterable<string> }> {
  const { failOnMissing, store } = secrets!;
  const written = providers.get(id)!;
  const values = await lookUp(listSecretNames(written), get);
  const report = new Report();
  const missing = new Set<string>();
  const filled = failOnMissing ? fill(written, values, missing) : fillAvailable(written, values, report);
  const entry = withDistinctKeys(filled, report);
  if (missing.size > 0) throw new SecretNotFoundError([...missing], store);
  checkEntry(entry, report);
  const problems = entry.enabled ? report.problems : report.warnings;
  if (problems.length > 0) throw new ConfigError(problems, source);
  return { entry, secrets: values.values() };
}

/**
 * Resolves the secrets that stand for numbers and booleans.
 *
 * @param get See {@linkcode Get}.
 * @throws {SecretNotFoundError} If secrets are missing; lists all of them.
 * @throws {ConfigError} If a value does not fit its key.
 */
export async function completeSettings(settings: Settings, get: Get): Promise<Settings> {
  const { deferred, secrets } = settings;
  if (deferred === undefined) return settings;
  const { failOnMissing, store } = secrets!;
  const names = [...new Set([...deferred.names, ...listSecretNames(listReferenceHolders(settings))])];
  const values = await lookUp(names, get);
  if (failOnMissing && deferred.names.some((name) => !values.has(name))) {
    throw new SecretNotFoundError(names.filter((name) => !values.has(name)), store);
  }
  return deferred.resolve({ values, failOnMissing });
}

/** What may contain references. */
function listReferenceHolders(settings: Settings): readonly unknown[] {
  const { providers, models, guards, proxy, storage, cache, observability } = settings;
  return [
    [...providers.values()].filter(({ enabled }) => enabled),
    models,
    guards,
    proxy,
    storage,
    cache,
    observability,
  ];
}

/**
 * Resolves the secret references of settings, except those of disabled providers.
 *
 * @param get Looks up a secret; called once per secret. A blank one counts as missing.
 * @throws {SecretNotFoundError} If secrets are missing; lists all of them. If `fail_on_missing` is off, only tokens of
 * the proxy are required. Anything else is left out with a warning: an API key, a provider without any key or without
 * its URL, a model, the storage, a sink, a setting of the proxy.
 * @throws {ConfigError} If a resolved key, token or URL is invalid.
 */
export async function resolveSettings(
  settings: Settings,
  get: Get,
): Promise<{ settings: Settings; secrets: ReadonlySet<string> }> {
  const values = await lookUp(listSecretNames(listReferenceHolders(settings)), get);
  const report = new Report();
  const resolved = resolve(settings, values, report);
  check(resolved, report);
  if (report.problems.length > 0) throw new ConfigError(report.problems, settings.source);
  const warnings = [...settings.warnings, ...report.warnings];
  return { settings: deepFreeze({ ...resolved, warnings }), secrets: new Set(values.values()) };
}

/** Looks up a secret; undefined if it does not exist. */
type Get = (name: string) => Promise<string | undefined>;

function listSecretNames(value: unknown): readonly string[] {
  const names = new Set<string>();
  mapStrings(value, (text) => {
    for (const name of referencesIn(text).names) names.add(name);
    return text;
  });
  return [...names];
}

async function lookUp(names: readonly string[], get: Get): Promise<SecretsByName> {
  const found = await Promise.all(names.map(async (name) => [name, (await get(name))?.replace(/\r?\n$/, "")] as const));
  return new Map(found.flatMap(([name, value]) => value === undefined || value.trim() === "" ? [] : [[name, value]]));
}

function resolve(settings: Settings, values: SecretsByName, report: Report): Settings {
  const missing = new Set<string>();
  const { failOnMissing, store } = settings.secrets!;
  const filled = failOnMissing ? fillAll(settings, values, missing) : leaveOut(settings, { values, missing, report });
  if (missing.size > 0) throw new SecretNotFoundError([...missing], store);
  const providers = [...filled.providers].map(([id, entry]) => {
    return [id, entry.enabled ? withDistinctKeys(entry, report) : entry] as const;
  });
  return { ...filled, providers: new Map(providers) };
}

function fillAll(settings: Settings, values: SecretsByName, missing: Set<string>): Settings {
  const { providers, models, guards, proxy, storage, cache, observability } = settings;
  return {
    ...settings,
    ...(guards && { guards: fill(guards, values, missing) }),
    ...(cache && { cache: fill(cache, values, missing) }),
    providers: new Map([...providers].map(([id, entry]) => [id, entry.enabled ? fill(entry, values, missing) : entry])),
    models: fill(models, values, missing),
    proxy: fill(proxy, values, missing),
    storage: fill(storage, values, missing),
    observability: fill(observability, values, missing),
  };
}

/** Leaves out what lacks a secret, and warns about it; only tokens of the proxy are required. */
function leaveOut(settings: Settings, { values, missing, report }: {
  readonly values: SecretsByName;
  /** Collects the missing secrets that are required. */
  readonly missing: Set<string>;
  readonly report: Report;
}): Settings {
  const { providers, models, guards, proxy, storage, cache, observability } = settings;
  const filled = <Value>(value: Value, path: string, effect = "is left out"): Value | undefined => {
    const lost = new Set<string>();
    const result = fill(value, values, lost);
    for (const name of lost) report.warn(path, `${effect}: the secret "${name}" is missing`);
    return lost.size === 0 ? result : undefined;
  };
  const available = [...models].flatMap(([name, model]) => {
    const found = filled(model, under("models", name));
    return found === undefined ? [] : [[name, found] as const];
  });
  return {
    ...settings,
    providers: new Map([...providers].map(([id, entry]) => {
      return [id, entry.enabled ? fillAvailable(entry, values, report) : entry];
    })),
    models: new Map(available),
    ...(guards && { guards: fill(guards, values, missing) }), // without its secret, a guard would let everything pass
    proxy: proxy && fillProxy(proxy, filled, (value) => fill(value, values, missing)),
    storage: storage && filled(storage, "storage", "is left out, so that states are kept in memory"),
    ...(cache && { cache: filled(cache, "cache") }),
    observability: observability.flatMap((sink) => {
      return filled(sink, "observability", `the sink "${sink.connector}" is left out`) ?? [];
    }),
  };
}

type FillOptional = <Value>(value: Value, path: string, effect?: string) => Value | undefined;

/** Tokens are required: without one, the proxy could be open to all. */
function fillProxy(
  { clients, adminTokens, idSecret, host, address, allowedHosts, cors, ...others }: ProxySettings,
  filled: FillOptional,
  required: <Value>(value: Value) => Value,
): ProxySettings {
  const list = (values: readonly string[] | undefined, path: string) =>
    values?.flatMap((value, index) => filled(value, `${path}[${index}]`) ?? []);
  const id = idSecret === undefined ? undefined : filled(idSecret, "proxy.id_secret");
  const shownAddress = address === undefined ? undefined : filled(address, "proxy.address");
  return {
    ...others,
    clients: required(clients),
    ...(adminTokens === undefined ? {} : { adminTokens: required(adminTokens) }),
    ...(id === undefined ? {} : { idSecret: id }),
    host: filled(host, "proxy.host") ?? section.fields.host.default,
    ...(shownAddress === undefined ? {} : { address: shownAddress }),
    allowedHosts: list(allowedHosts, "proxy.allowed_hosts") ?? [],
    cors: {
      ...cors,
      origins: list(cors.origins, "proxy.cors.origins"),
      headers: list(cors.headers, "proxy.cors.headers"),
    },
  };
}

function fillAvailable(entry: ProviderEntry, values: SecretsByName, report: Report): ProviderEntry {
  const path = under("providers", entry.id);
  const { apiKeys, ...others } = entry;
  const keys = apiKeys.flatMap((key) => {
    const lost = new Set<string>();
    const value = fill(key, values, lost);
    for (const name of lost) report.warn(`${path}.api_key`, `the secret "${name}" is missing`);
    return lost.size === 0 ? [value] : [];
  });
  const lost = new Set<string>();
  const filled = { ...fill(others, values, lost), apiKeys: keys };
  if (lost.size === 0 && keys.length >= Math.min(1, apiKeys.length)) return filled;
  for (const name of lost) report.warn(path, `the secret "${name}" is missing`);
  report.warn(path, "is disabled, since a required secret is missing");
  return { ...filled, enabled: false };
}

/** Removes duplicates: two secrets may have the same value, among which key rotation would be pointless. */
function withDistinctKeys(entry: ProviderEntry, report: Report): ProviderEntry {
  const apiKeys = [...new Set(entry.apiKeys)];
  if (apiKeys.length === entry.apiKeys.length) return entry;
  report.warn(`${under("providers", entry.id)}.api_key`, "has duplicate keys, which count as one");
  return { ...entry, apiKeys };
}

function fill<Value>(value: Value, values: SecretsByName, missing: Set<string>): Value {
  return mapStrings(value, (text) => {
    const resolved = resolveReferences(text, (name) => values.get(name));
    for (const name of resolved.missing) missing.add(name);
    return resolved.text;
  });
}

/** A copy with every string replaced; instances and objects with methods are kept. */
function mapStrings<Value>(value: Value, replace: (text: string) => string): Value {
  return copy(value) as Value;

  function copy(part: unknown): unknown {
    if (typeof part === "string") return replace(part);
    if (Array.isArray(part)) return part.map(copy);
    if (part instanceof Map) return new Map([...part].map(([key, member]) => [key, copy(member)]));
    if (!isPlainObject(part)) return part;
    const entries = Object.entries(part).map(([key, member]) => [key, copy(member)]);
    return Object.assign(Object.create(null), Object.fromEntries(entries));
  }
}

function check({ providers, proxy }: Settings, report: Report): void {
  for (const entry of providers.values()) if (entry.enabled) checkEntry(entry, report);
  if (proxy !== undefined) checkProxy(proxy, report);
}

function checkProxy(proxy: ProxySettings, report: Report): void {
  const tokens = proxy.clients.map(({ token }) => token);
  tokens.forEach((token, index) => {
    const path = `proxy.auth.tokens[${index}]`;
    if (token === undefined) return;
    blame(path, credentialProblem(token), report);
    if (tokens.indexOf(token) < index) {
      report.problem(path, `is the same token as proxy.auth.tokens[${tokens.indexOf(token)}]`);
    }
  });
  proxy.adminTokens?.forEach((token, index) =>
    blame(`proxy.auth.admin_tokens[${index}]`, credentialProblem(token), report)
  );
  if (proxy.idSecret !== undefined) blame("proxy.id_secret", secretProblem(proxy.idSecret), report);
  blame("proxy.host", hostProblem(proxy.host), report);
  proxy.allowedHosts.forEach((host, index) => blame(`proxy.allowed_hosts[${index}]`, hostProblem(host), report));
  proxy.cors.origins?.forEach((origin, index) => blame(`proxy.cors.origins[${index}]`, originProblem(origin), report));
}

function checkEntry({ id, apiKeys, baseUrl, tokens, headers = {} }: ProviderEntry, report: Report): void {
  const path = under("providers", id);
  if (tokens !== undefined) checkTokens(tokens, `${path}.auth`, report);
  for (const key of apiKeys) blame(`${path}.api_key`, credentialProblem(key), report);
  for (const [name, value] of Object.entries(headers)) {
    blame(under(`${path}.headers`, name), headerProblem(value), report);
  }
  if (baseUrl !== undefined) blame(`${path}.base_url`, baseUrlProblem(baseUrl), report);
}

function blame(path: string, problem: string | undefined, report: Report): void {
  if (problem !== undefined) report.problem(path, problem);
}
