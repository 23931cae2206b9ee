/**
 * SambaNova.
 *
 * Source: docs.sambanova.ai, LiteLLM's list of the parameters it takes.
 * @module
 */
import { chatModel } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

const source = "models.dev 2026-06-10";

/** SambaNova. */
export const sambanova: OpenAiCompatible = {
  id: "sambanova.api.v1",
  vendor: "sambanova",
  baseUrl: "https://api.sambanova.ai/v1",
  detection: { keys: ["SAMBANOVA_API_KEY"], baseUrl: ["SAMBANOVA_BASE_URL"] },
  parameters: { rename: { max_completion_tokens: "max_tokens" }, refuse: ["n", "logprobs", "top_logprobs"] },
  models: [
    chatModel("gpt-oss-120b", {
      can: "TSR",
      window: 131_072,
      maxOutput: 131_072,
      pricing: [{ input: 0.22, output: 0.59 }],
      isDefault: true,
      source,
    }),
    chatModel("Meta-Llama-3.3-70B-Instruct", {
      can: "TS",
      window: 131_072,
      maxOutput: 3_072,
      pricing: [{ input: 0.6, output: 1.2 }],
      isDefault: true,
      source,
    }),
  ],
};
