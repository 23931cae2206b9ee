/**
 * The error of a provider's `config`.
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import { ConfigError } from "../../src/errors.ts";

/**
 * Creates the error of an attribute.
 *
 * @param attribute The provider's settings, and the name of the attribute.
 */
export function createAttributeError(
  { settings: { id }, name }: { readonly settings: ProviderSettings; readonly name: string },
  message: string,
): ConfigError {
  return new ConfigError([{ path: `providers.${id}.config.${name}`, message }]);
}
