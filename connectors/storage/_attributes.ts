/**
 * Storage attributes that the specification defines, in addition to each connector's own.
 * @module
 */
import { ConfigError } from "../../src/errors.ts";

type StorageAttributes = Readonly<Record<string, unknown>>;

/**
 * The prefix of record names: `prefix`, or its alias `key`.
 *
 * @param settings All settings of a connector.
 * @throws {ConfigError} If they differ.
 */
export function getPrefix({ prefix, key }: StorageAttributes): unknown {
  if (prefix !== undefined && key !== undefined && prefix !== key) {
    failAttribute("key", 'differs from "prefix", which means the same');
  }
  return prefix ?? key;
}

/**
 * Throws the error of an attribute.
 *
 * @throws {ConfigError} In any case.
 */
export function failAttribute(name: string, message: string): never {
  throw new ConfigError([{ path: `storage.${name}`, message }]);
}

/**
 * Moves the members of `credentials` to the top level of the settings.
 *
 * @param settings All settings of a connector; `credentials` is an object, or its JSON, for example from a secret.
 * @throws {ConfigError} If it is anything else, or a member is set twice. Values are never quoted.
 */
export function withCredentials(
  { credentials, ...settings }: StorageAttributes,
  names: readonly string[],
): StorageAttributes {
  if (credentials === undefined) return settings;
  const fail = (message: string): never => failAttribute("credentials", message);
  const members = parsed(credentials) ?? fail(`expected an object of ${names.join(", ")}, or its JSON`);
  for (const name of Object.keys(members)) {
    if (!names.includes(name)) fail(`accepts only ${names.join(", ")}`);
    if (settings[name] !== undefined) fail(`"${name}" is also set outside of it: remove one of the two`);
  }
  return { ...settings, ...members };
}

function parsed(credentials: unknown): StorageAttributes | undefined {
  let value = credentials;
  try {
    if (typeof value === "string") value = JSON.parse(value);
  } catch {
    return undefined;
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as StorageAttributes : undefined;
}
