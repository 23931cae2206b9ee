/**
 * Together AI.
 *
 * Source: docs.together.ai.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { chatModel } from "./_catalogue.ts";
import { openAiCompatible } from "./_openai_compatible.ts";

/** Together AI. */
export const together: ProviderConnector = openAiCompatible({
  id: "together.api.v1",
  vendor: "together",
  baseUrl: "https://api.together.xyz/v1",
  detection: {
    keys: ["TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHERAI_API_KEY"],
    baseUrl: ["TOGETHER_BASE_URL"],
  },
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
  models: [
    chatModel("meta-llama/Llama-3.3-70B-Instruct-Turbo", {
      can: "TS",
      window: 131_072,
      maxOutput: 131_072,
      pricing: [{ input: 0.88, output: 0.88 }],
      isDefault: true,
    }),
  ],
});
