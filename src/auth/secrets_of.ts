/**
 * What must not be shown of how tokens are fetched.
 * @module
 */
import type { TokenSettings } from "../config/settings/settings.ts";

/** Every secret in the settings of tokens, as it could be quoted. */
export function secretsOf({ clientSecret, refreshToken, credentials }: TokenSettings): string[] {
  const isText = typeof credentials === "string";
  const account = (isText ? JSON.parse(credentials) : credentials ?? {}) as Readonly<Record<string, unknown>>;
  const { private_key: key, private_key_id: keyId } = account;
  // a PEM text is quoted line by line
  const lines = typeof key === "string" ? [key, ...key.split(/\r?\n/).filter((line) => !line.startsWith("---"))] : [];
  return [clientSecret, refreshToken, isText ? credentials : undefined, keyId, ...lines]
    .filter((secret): secret is string => typeof secret === "string");
}
