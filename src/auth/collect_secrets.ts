/**
 * Secrets of token settings that must be redacted.
 * @module
 */
import type { TokenSettings } from "../config/settings/settings.ts";

/** Every secret in the token settings, in every form in which it might be quoted. */
export function collectSecrets({ clientSecret, refreshToken, credentials }: TokenSettings): string[] {
  const isText = typeof credentials === "string";
  const account = (isText ? JSON.parse(credentials) : credentials ?? {}) as Readonly<Record<string, unknown>>;
  const { private_key: key, private_key_id: keyId } = account;
  // a PEM key may be quoted line by line
  const lines = typeof key === "string" ? [key, ...key.split(/\r?\n/).filter((line) => !line.startsWith("---"))] : [];
  return [clientSecret, refreshToken, isText ? credentials : undefined, keyId, ...lines]
    .filter((secret): secret is string => typeof secret === "string");
}
