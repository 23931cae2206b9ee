/**
 * Vendors whose code is imported when they are named.
 * @module
 */
import type { LazyProviderConnector, ProviderDeclaration } from "../../src/contracts/connector.ts";
import { withDialectAttributes } from "./_dialect_attributes.ts";
import { declarationOf, type OpenAiCompatible } from "./_openai_vendor.ts";

/**
 * The connector of a vendor that speaks OpenAI's dialect.
 *
 * @param vendor What sets the vendor apart.
 */
export function lazyOpenAiCompatible(vendor: OpenAiCompatible): LazyProviderConnector {
  const whole = withDialectAttributes(vendor);
  return loadedBy(
    declarationOf(whole),
    async () => (await import("./_openai_compatible.ts")).openAiCompatible(whole),
  );
}

/**
 * A connector whose code is imported when it is named.
 *
 * @param declaration What is known of it; its list of models is not looked at.
 * @param load Imports the code.
 */
export function loadedBy(
  declaration: ProviderDeclaration,
  load: LazyProviderConnector["load"],
): LazyProviderConnector {
  const members = Object.getOwnPropertyDescriptors(declaration);
  return Object.defineProperties({ load }, members) as LazyProviderConnector;
}
