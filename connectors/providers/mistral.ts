/**
 * Mistral. It answers 422 to any field it does not know, and reports usage in a stream without being asked.
 *
 * Source: docs.mistral.ai; mistralai/platform-docs-public#7, avante.nvim#2347 and eca#231 (fields it refuses).
 * @module
 */
import { chatModel, singleModel } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** Mistral. */
export const mistral: OpenAiCompatible = {
  id: "mistral.api.v1",
  vendor: "mistral",
  baseUrl: "https://api.mistral.ai/v1",
  detection: { keys: ["MISTRAL_API_KEY"], baseUrl: ["MISTRAL_BASE_URL"] },
  streamUsage: false,
  parameters: {
    rename: { max_completion_tokens: "max_tokens", seed: "random_seed" },
    drop: ["stream_options", "logit_bias", "user", "store", "service_tier"],
    refuse: ["logprobs", "top_logprobs"],
  },
  models: () => [
    chatModel("mistral-large-2512", {
      can: "TSV",
      window: 262_144,
      maxOutput: 262_144,
      pricing: [{ input: 0.5, output: 1.5, cached_input: 0.05 }],
      isDefault: true,
    }),
    chatModel("mistral-small-2603", {
      can: "TRV",
      window: 256_000,
      maxOutput: 256_000,
      pricing: [{ input: 0.15, output: 0.6, cached_input: 0.015 }],
      isDefault: true,
    }),
    chatModel("mistral-medium-2604", {
      can: "TSRV",
      window: 262_144,
      maxOutput: 262_144,
      pricing: [{ input: 1.5, output: 7.5 }],
    }),
    chatModel("codestral-latest", {
      can: "T",
      window: 256_000,
      maxOutput: 4_096,
      pricing: [{ input: 0.3, output: 0.9 }],
    }),
    singleModel("mistral-embed", "representation.embeddings.text-embeddings", {
      window: 8_000,
      pricing: [{ input: 0.1 }],
      isDefault: true,
    }),
  ],
};
