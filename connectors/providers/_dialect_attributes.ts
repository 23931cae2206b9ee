/**
 * What a configuration says of dialects that some servers have and others do not.
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
 * The attributes for the dialects that a vendor may have.
 *
 * @param dialects Those it declares.
 */
export function dialectAttributes(dialects: VendorDialects): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name in dialects));
}

/**
 * A vendor with these attributes beside its own.
 *
 * @param vendor What sets it apart.
 */
export function withDialectAttributes(vendor: OpenAiCompatible): OpenAiCompatible {
  const { dialects } = vendor;
  if (dialects === undefined) return vendor;
  return { ...vendor, attributes: { ...vendor.attributes, ...dialectAttributes(dialects) } };
}
