/**
 * Cohere, by its compatibility base. Its rerank endpoint is not under that base.
 *
 * Source: docs.cohere.com/docs/compatibility-api and cohere-developer-experience#606 (parameters).
 * @module
 */
import { chatModel, genaiPrices, singleModel } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** Cohere. */
export const cohere: OpenAiCompatible = {
  id: "cohere.nlp.v1",
  vendor: "cohere",
  baseUrl: "https://api.cohere.ai/compatibility/v1",
  detection: { keys: ["COHERE_API_KEY", "CO_API_KEY"], baseUrl: ["COHERE_BASE_URL"] },
  parameters: {
    drop: ["logit_bias", "parallel_tool_calls", "store", "metadata", "service_tier"],
    refuse: ["n", "top_logprobs"],
  },
  models: [
    chatModel("command-a-plus-05-2026", {
      can: "TSRV",
      window: 128_000,
      maxOutput: 64_000,
      pricing: [{ input: 2.5, output: 10 }],
      isDefault: true,
    }),
    chatModel("command-r7b-12-2024", {
      can: "TS",
      window: 128_000,
      maxOutput: 4_000,
      pricing: [{ input: 0.0375, output: 0.15 }],
    }),
    singleModel("embed-v4.0", "representation.embeddings.text-embeddings", {
      window: 128_000,
      pricing: [{ input: 0.12 }],
      isDefault: true,
      source: genaiPrices,
    }),
    singleModel("rerank-v3.5", "retrieval.reranking", { pricing: [{ per_search: 0.002 }], isDefault: true }),
  ],
};
