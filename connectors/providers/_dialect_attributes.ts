/**
 * Attributes for native dialects that only some servers support.
 * @module
 */
import type { Attributes } from "../../src/contracts/connector.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

type VendorDialects = NonNullable<OpenAiCompatible["dialects"]>;

const attributes: Readonly<Record<keyof VendorDialects, Attributes[string]>> = {
  responses: {
    type: "flag",
    about:
      "Whether the server implements `POST /responses`, for clients of `/v1/responses`. By default only OpenAI, Azure " +
      "OpenAI and xAI, at the vendor's own address.",
  },
  completions: {
    type: "flag",
    about:
      "Whether the server implements `POST /completions`, for clients of `/v1/completions`. By default Cerebras, " +
      "Fireworks, LM Studio, LocalAI, Ollama and vLLM.",
  },
};

/**
 * The attributes for the dialects of a vendor.
 *
 * @param dialects The declared dialects.
 */
export function dialectAttributes(dialects: VendorDialects): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name in dialects));
}

/** Adds these attributes to a vendor's own. */
export function withDialectAttributes(vendor: OpenAiCompatible): OpenAiCompatible {
  const { dialects } = vendor;
  if (dialects === undefined) return vendor;
  return { ...vendor, attributes: { ...vendor.attributes, ...dialectAttributes(dialects) } };
}
