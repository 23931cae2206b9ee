/**
 * Perplexity's models. The fee per request depends on the search context size; the highest is listed.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "sonar",
    can: "",
    also: ["retrieval.rag.grounded-generation"],
    features: { grounding: true },
    window: 128_000,
    maxOutput: 4_096,
    isDefault: true,
    pricing: [{ input: 1, output: 1, per_request: 0.012 }],
    source: ["LiteLLM, genai-prices", "2026-11-20"],
  },
  {
    id: "sonar-pro",
    can: "V",
    also: ["retrieval.rag.grounded-generation"],
    features: { grounding: true },
    window: 200_000,
    maxOutput: 8_192,
    pricing: [{ input: 3, output: 15, per_request: 0.014 }],
    source: ["LiteLLM, genai-prices", "2026-11-20"],
  },
  {
    id: "search",
    serves: ["retrieval.search.web-search"],
    isDefault: true,
    pricing: [{ per_search: 0.005 }],
    source: ["LiteLLM", "2026-11-20"],
  },
];
