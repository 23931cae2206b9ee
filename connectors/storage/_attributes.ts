/**
 * Attributes of storages that the specification names, beside those of each one.
 * @module
 */
import { ConfigError } from "../../src/errors.ts";

type Settings = Readonly<Record<string, unknown>>;

/**
 * What names begin with: `prefix`, or `key`, which means the same.
 *
 * @param settings All of a connector's.
 * @throws {ConfigError} When they differ.
 */
export function prefixOf({ prefix, key }: Settings): unknown {
  if (prefix !== undefined && key !== undefined && prefix !== key) {
    throw new ConfigError([{ path: "storage.key", message: 'differs from "prefix", which means the same' }]);
  }
  return prefix ?? key;
}

/**
 * Settings with the members of `credentials` in their own places.
 *
 * @param settings All of a connector's; `credentials` is an object, or its JSON as a secret may hold it.
 * @param names The members it may have.
 * @throws {ConfigError} When it is anything else, or one of them is given twice. A value is never quoted.
 */
export function withCredentials({ credentials, ...settings }: Settings, names: readonly string[]): Settings {
  if (credentials === undefined) return settings;
  const fail = (message: string): never => {
    throw new ConfigError([{ path: "storage.credentials", message }]);
  };
  const members = parsed(credentials) ?? fail(`expected an object of ${names.join(", ")}, or its JSON`);
  for (const name of Object.keys(members)) {
    if (!names.includes(name)) fail(`takes ${names.join(", ")}, and nothing else`);
    if (settings[name] !== undefined) fail(`"${name}" is given beside it already: leave one of the two out`);
  }
  return { ...settings, ...members };
}

function parsed(credentials: unknown): Settings | undefined {
  let value = credentials;
  try {
    if (typeof value === "string") value = JSON.parse(value);
  } catch {
    return undefined;
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Settings : undefined;
}
