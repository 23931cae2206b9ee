/**
 * LocalAI on one's own machine.
 *
 * Source: localai.io/docs.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { openAiCompatible } from "./_openai_compatible.ts";

/** LocalAI. */
export const localai: ProviderConnector = openAiCompatible({
  id: "localai.local.v1",
  vendor: "localai",
  baseUrl: "http://127.0.0.1:8080/v1",
  detection: {
    keys: [],
    baseUrl: ["LOCALAI_BASE_URL"],
    host: ["LOCALAI_HOST", "LOCALAI_BASE_URL"],
    port: 8080,
  },
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
  local: true,
});
