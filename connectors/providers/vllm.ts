/**
 * vLLM on one's own machine.
 *
 * Source: docs.vllm.ai, OpenAI-compatible server.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { openAiCompatible } from "./_openai_compatible.ts";

/** vLLM. */
export const vllm: ProviderConnector = openAiCompatible({
  id: "vllm.local.v1",
  vendor: "vllm",
  baseUrl: "http://127.0.0.1:8000/v1",
  detection: {
    keys: ["VLLM_API_KEY"],
    baseUrl: ["VLLM_BASE_URL"],
    host: ["VLLM_HOST", "VLLM_BASE_URL"],
    port: 8000,
  },
  local: true,
});
