/**
 * Attributes that storages and log sinks share, in addition to each connector's own.
 * @module
 */
import { ConfigError } from "../../src/errors.ts";

/** All settings of a connector. */
export type GivenAttributes = Readonly<Record<string, unknown>>;

/** The section of the configuration that storages are configured in. */
const storageSection = "storage";

/**
 * The prefix of record names: `prefix`, or its alias `key`.
 *
 * @param settings All settings of a connector.
 * @throws {ConfigError} If they differ.
 */
export function getPrefix({ prefix, key }: GivenAttributes): unknown {
  if (prefix !== undefined && key !== undefined && prefix !== key) {
    failAttribute("key", 'differs from "prefix", which means the same');
  }
  return prefix ?? key;
}

/**
 * Throws the error of an attribute.
 *
 * @param section The section of the configuration.
 * @throws {ConfigError} In any case.
 */
export function failAttribute(name: string, message: string, section: string = storageSection): never {
  throw new ConfigError([{ path: `${section}.${name}`, message }]);
}

/**
 * A string setting.
 *
 * @param settings All settings of a connector.
 * @param name Name of the setting.
 * @param section The section of the configuration.
 * @throws {ConfigError} If it is not a string.
 */
export function textSetting(settings: GivenAttributes, name: string, section?: string): string | undefined {
  const value = settings[name];
  if (value === undefined || typeof value === "string" && value.trim() !== "") return value;
  return failAttribute(name, "expected a string", section);
}

/**
 * Moves the members of `credentials` to the top level of the settings.
 *
 * @param settings All settings of a connector; `credentials` is an object, or its JSON, for example from a secret.
 * @param names The accepted members.
 * @param section The section of the configuration.
 * @throws {ConfigError} If it is anything else, or a member is set twice. Values are never quoted.
 */
export function withCredentials(
  { credentials, ...settings }: GivenAttributes,
  names: readonly string[],
  section?: string,
): GivenAttributes {
  if (credentials === undefined) return settings;
  const fail = (message: string): never => failAttribute("credentials", message, section);
  const members = parsed(credentials) ?? fail(`expected an object of ${names.join(", ")}, or its JSON`);
  for (const name of Object.keys(members)) {
    if (!names.includes(name)) fail(`accepts only ${names.join(", ")}`);
    if (settings[name] !== undefined) fail(`"${name}" is also set outside of it: remove one of the two`);
  }
  return { ...settings, ...members };
}

function parsed(credentials: unknown): GivenAttributes | undefined {
  let value = credentials;
  try {
    if (typeof value === "string") value = JSON.parse(value);
  } catch {
    return undefined;
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as GivenAttributes : undefined;
}
