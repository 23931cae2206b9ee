/**
 * Tavily's search. The model is the search depth.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "search",
    serves: ["retrieval.search.web-search"],
    isDefault: true,
    pricing: [{ per_search: 0.008 }],
    source: ["LiteLLM", "2026-11-20"],
  },
  {
    id: "search-advanced",
    serves: ["retrieval.search.web-search"],
    pricing: [{ per_search: 0.016 }],
    source: ["LiteLLM", "2026-11-20"],
  },
];
