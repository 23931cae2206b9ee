/**
 * Settings with the secrets they refer to.
 * @module
 */
import { ConfigError, SecretNotFoundError } from "../errors.ts";
import { baseUrlProblem, credentialProblem, hostProblem } from "./_checks.ts";
import { Report, under } from "./_report.ts";
import { deepFreeze, isPlainObject } from "./_tree.ts";
import { referencesIn, resolveReferences } from "./references.ts";
import type { ProviderEntry, Settings } from "./settings.ts";

/** Settings in which nothing refers to a secret any more. */
export interface ResolvedSettings {
  /** The settings. */
  readonly settings: Settings;
  /** Every value that was put in: what records and messages must not show. */
  readonly secrets: ReadonlySet<string>;
}

type Values = ReadonlyMap<string, string>;

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
  const { providers, models, proxy, observability } = settings;
  const names = new Set<string>();
  mapTexts([[...providers.values()].filter(({ enabled }) => enabled), models, proxy, observability], (text) => {
    for (const name of referencesIn(text).names) names.add(name);
    return text;
  });
  const values = await lookUp([...names], get);
  const report = new Report();
  const resolved = resolve(settings, values, report);
  check(settings, resolved, report);
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
  function fill<Value>(value: Value, into: Set<string> = missing): Value {
    return mapTexts(value, (text) => {
      const result = resolveReferences(text, (name) => values.get(name));
      for (const name of result.missing) into.add(name);
      return result.text;
    });
  }
  const providers = new Map([...settings.providers].map(([id, entry]) => {
    if (!entry.enabled) return [id, entry];
    if (settings.failOnMissing) return [id, fill(entry)];
    return [id, fillProvider(entry, fill, report)];
  }));
  const { models, proxy, observability } = settings;
  const resolved = { ...settings, providers, models: fill(models), proxy: fill(proxy), observability: fill(observability) };
  if (missing.size > 0) throw new SecretNotFoundError([...missing], settings.secrets.store);
  return resolved;
}
