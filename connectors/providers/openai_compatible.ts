/**
 * Any other server that speaks OpenAI's dialect: its address has to be configured, a key need not be.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { openAiCompatible } from "./_openai_compatible.ts";

/** A server of OpenAI's dialect at any address. */
export const openaiCompatible: ProviderConnector = /* @__PURE__ */ openAiCompatible({
  id: "openai.compatible.v1",
  vendor: "openai-compatible",
  keyless: true,
});
