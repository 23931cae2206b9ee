/**
 * Settings with the secrets they refer to.
 * @module
 */
import { ConfigError, SecretNotFoundError } from "../errors.ts";
import { baseUrlProblem, credentialProblem, hostProblem } from "./_checks.ts";
import { Report, under } from "./_report.ts";
import { deepFreeze, isPlainObject } from "./_tree.ts";
import { builtInProxy } from "./defaults.ts";
import { referencesIn, resolveReferences } from "./references.ts";
import type { MakeConnector, ProviderEntry, ResolvedSettings, Settings } from "./settings.ts";

type Values = ReadonlyMap<string, string>;

/**
 * Puts the secrets of the store in that the settings name, and makes the sinks.
 *
 * @param settings As validated.
 * @param make Makes store and sinks.
 * @throws As {@linkcode resolveSettings} does; {@linkcode ConfigError} too when there is no such store.
 */
export async function resolveFromStore(settings: Settings, make: MakeConnector): Promise<ResolvedSettings> {
  const store = make("secretStore", settings.secrets.store, settings.secrets.config);
  const resolved = await resolveSettings(settings, (name) => store.get(name));
  const { observability } = resolved.settings;
  return { ...resolved, sinks: observability.map(({ connector, config }) => make("observability", connector, config)) };
}

/**
 * Puts secrets in where settings refer to them. Providers that are switched off are left as they are.
 *
 * @param settings As validated.
 * @param get Looks a secret up; each is asked for once. One that is blank counts as missing.
 * @throws {SecretNotFoundError} With all that are missing. Unless `fail_on_missing` is off: then a provider does
 * without a missing key, and one with no key left or without its address is switched off, with a warning.
 * @throws {ConfigError} When a key, a token or an address that came out does not hold.
 */
export async function resolveSettings(
  settings: Settings,
  get: (name: string) => Promise<string | undefined>,
): Promise<ResolvedSettings> {
  const { providers, models, proxy, storage, observability } = settings;
  const names = new Set<string>();
  mapTexts(
    [[...providers.values()].filter(({ enabled }) => enabled), models, proxy, storage, observability],
    (text) => {
      for (const name of referencesIn(text).names) names.add(name);
      return text;
    },
  );
  const values = await lookUp([...names], get);
  const report = new Report();
  const resolved = resolve(settings, values, report);
  check(resolved, report);
  if (report.problems.length > 0) throw new ConfigError(report.problems, settings.source);
  const warnings = [...settings.warnings, ...report.warnings];
  return { settings: deepFreeze({ ...resolved, warnings }), secrets: new Set(values.values()) };
}

async function lookUp(
  names: readonly string[],
  get: (name: string) => Promise<string | undefined>,
): Promise<Values> {
  const found = await Promise.all(names.map(async (name) => [name, (await get(name))?.replace(/\r?\n$/, "")] as const));
  return new Map(found.flatMap(([name, value]) => value === undefined || value.trim() === "" ? [] : [[name, value]]));
}

function resolve(settings: Settings, values: Values, report: Report): Settings {
  const missing = new Set<string>();
  const { secrets, providers, models, proxy, storage, observability } = settings;
  const filled = {
    ...settings,
    providers: new Map([...providers].map(([id, entry]) => {
      if (!entry.enabled) return [id, entry];
      return [id, secrets.failOnMissing ? fill(entry, values, missing) : fillAsFarAsKnown(entry, values, report)];
    })),
    models: fill(models, values, missing),
    proxy: fill(proxy, values, missing),
    storage: fill(storage, values, missing),
    observability: fill(observability, values, missing),
  };
  if (missing.size > 0) throw new SecretNotFoundError([...missing], secrets.store);
  return filled;
}

function fillAsFarAsKnown(entry: ProviderEntry, values: Values, report: Report): ProviderEntry {
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
  report.warn(path, "is switched off, since it cannot be used without what is missing");
  return { ...filled, enabled: false };
}

function fill<Value>(value: Value, values: Values, missing: Set<string>): Value {
  return mapTexts(value, (text) => {
    const resolved = resolveReferences(text, (name) => values.get(name));
    for (const name of resolved.missing) missing.add(name);
    return resolved.text;
  });
}

/** A copy in which every text is replaced; instances and whatever has methods are kept. */
function mapTexts<Value>(value: Value, replace: (text: string) => string): Value {
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

function check({ providers, proxy = builtInProxy() }: Settings, report: Report): void {
  for (const { id, enabled, apiKeys, baseUrl } of providers.values()) {
    if (!enabled) continue;
    const path = under("providers", id);
    for (const key of apiKeys) blame(`${path}.api_key`, credentialProblem(key), report);
    if (baseUrl !== undefined) blame(`${path}.base_url`, baseUrlProblem(baseUrl), report);
  }
  proxy.tokens.forEach((token, place) => blame(`proxy.auth.tokens[${place}]`, credentialProblem(token), report));
  blame("proxy.host", hostProblem(proxy.host), report);
}

function blame(path: string, problem: string | undefined, report: Report): void {
  if (problem !== undefined) report.problem(path, problem);
}
