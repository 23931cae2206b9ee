/**
 * Firecrawl's searches, priced for ten results each.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "search",
    serves: ["retrieval.search.web-search"],
    isDefault: true,
    pricing: [{ per_search: 0.00166 }],
    source: ["LiteLLM", "2026-08-06"],
  },
];
