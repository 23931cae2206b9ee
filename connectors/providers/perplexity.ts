/**
 * Perplexity, whose models search the web before they answer. Citations are extra fields of the response; usage comes
 * with every chunk of a stream without being asked for.
 *
 * Source: docs.perplexity.ai; genai-prices for the fee per request, which depends on the search: the highest one.
 * @module
 */
import { chatModel, genaiPrices, modelsDev } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

const both = {
  also: ["retrieval.search.web-search", "retrieval.rag.grounded-generation"],
  features: { grounding: true },
  source: `${modelsDev}, fee: ${genaiPrices}`,
};

/** Perplexity. */
export const perplexity: OpenAiCompatible = {
  id: "perplexity.search.v1",
  vendor: "perplexity",
  baseUrl: "https://api.perplexity.ai",
  detection: { keys: ["PERPLEXITY_API_KEY", "PPLX_API_KEY"], baseUrl: ["PERPLEXITY_BASE_URL"] },
  streamUsage: false,
  parameters: {
    rename: { max_completion_tokens: "max_tokens" },
    refuse: ["n", "stop", "logprobs", "top_logprobs"],
  },
  models: [
    chatModel("sonar", {
      ...both,
      can: "",
      window: 128_000,
      maxOutput: 4_096,
      pricing: [{ input: 1, output: 1, per_request: 0.012 }],
      isDefault: true,
    }),
    chatModel("sonar-pro", {
      ...both,
      can: "V",
      window: 200_000,
      maxOutput: 8_192,
      pricing: [{ input: 3, output: 15, per_request: 0.014 }],
    }),
  ],
};
