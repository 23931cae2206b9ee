/**
 * Cohere, by its compatibility base. Its rerank endpoint is not under that base.
 *
 * Source: docs.cohere.com/docs/compatibility-api and cohere-developer-experience#606 (parameters).
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { openAiEmbeddings, rerankLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/cohere.ts";

/** Cohere. */
export const cohere: OpenAiCompatible = {
  id: "cohere.nlp.v1",
  vendor: "cohere",
  baseUrl: "https://api.cohere.ai/compatibility/v1",
  detection: { keys: ["COHERE_API_KEY", "CO_API_KEY"], baseUrl: ["COHERE_BASE_URL"] },
  parameters: {
    thoughts: "none",
    drop: ["logit_bias", "parallel_tool_calls", "store", "metadata", "service_tier"],
    refuse: ["n", "top_logprobs"],
  },
  models: () => knownModels(entries),
  operations: { embeddings: openAiEmbeddings, rerank: rerankLazily("../../v2/rerank") },
};
