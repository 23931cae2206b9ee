/**
 * Together AI.
 *
 * Source: docs.together.ai.
 * @module
 */
import { chatModel } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** Together AI. */
export const together: OpenAiCompatible = {
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
};
