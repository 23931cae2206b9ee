/**
 * Vendors whose code is imported when they are named.
 * @module
 */
import type { LazyProviderConnector } from "../../src/contracts/connector.ts";
import { declarationOf, type OpenAiCompatible } from "./_openai_vendor.ts";

/**
 * The connector of a vendor that speaks OpenAI's dialect.
 *
 * @param vendor What sets the vendor apart.
 */
export function lazyOpenAiCompatible(vendor: OpenAiCompatible): LazyProviderConnector {
  return {
    ...declarationOf(vendor),
    load: async () => (await import("./_openai_compatible.ts")).openAiCompatible(vendor),
  };
}
