/**
 * Vendors whose implementation is imported on demand.
 * @module
 */
import type { LazyProviderConnector, ProviderDeclaration } from "../../src/contracts/connector.ts";
import { withDialectAttributes } from "./_dialect_attributes.ts";
import { createDeclaration, type OpenAiCompatible } from "./_openai_vendor.ts";

/**
 * The lazy connector of an OpenAI-compatible vendor.
 *
 * @param vendor The vendor's declaration.
 */
export function lazyOpenAiCompatible(vendor: OpenAiCompatible): LazyProviderConnector {
  const whole = withDialectAttributes(vendor);
  return loadedBy(
    createDeclaration(whole),
    async () => (await import("./_openai_compatible.ts")).openAiCompatible(whole),
  );
}

/**
 * A lazy connector, whose implementation is imported when a configuration names it.
 *
 * @param declaration Its declaration; the model list is not evaluated.
 * @param load Imports the implementation.
 */
export function loadedBy(
  declaration: ProviderDeclaration,
  load: LazyProviderConnector["load"],
): LazyProviderConnector {
  const members = Object.getOwnPropertyDescriptors(declaration);
  return Object.defineProperties({ load }, members) as LazyProviderConnector;
}
