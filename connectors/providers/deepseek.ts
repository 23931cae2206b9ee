/**
 * DeepSeek. It answers in JSON but not by a schema, and has no `n`.
 *
 * Source: api-docs.deepseek.com (response formats; prices from 2026-08-16 as models.dev quotes them: the list price,
 * half of which is charged off-peak), llm-exe#662.
 * @module
 */
import { chatModel, modelsDev } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

const both = {
  can: "TR",
  features: { structured_output: false, json_mode: true },
  window: 1_000_000,
  maxOutput: 384_000,
  isDefault: true,
  source: `${modelsDev}, its newer prices of 2026-09-01`,
};

/** DeepSeek. */
export const deepseek: OpenAiCompatible = {
  id: "deepseek.api.v1",
  vendor: "deepseek",
  baseUrl: "https://api.deepseek.com",
  detection: { keys: ["DEEPSEEK_API_KEY"], baseUrl: ["DEEPSEEK_BASE_URL"] },
  parameters: { rename: { max_completion_tokens: "max_tokens" }, refuse: ["n"] },
  models: [
    chatModel("deepseek-v4-flash", {
      ...both,
      pricing: [
        { input: 0.14, output: 0.28, cached_input: 0.0028 },
        { input: 0.44, output: 1.32, cached_input: 0.014, from: "2026-08-16" },
      ],
    }),
    chatModel("deepseek-v4-pro", {
      ...both,
      pricing: [
        { input: 0.435, output: 0.87, cached_input: 0.0036 },
        { input: 1.32, output: 3.96, cached_input: 0.044, from: "2026-08-16" },
      ],
    }),
  ],
};
