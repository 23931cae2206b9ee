/**
 * Serper's searches. It bills credits, and says in each response how many.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "search",
    serves: ["retrieval.search.web-search"],
    isDefault: true,
    pricing: [{ per_search: 0.001 }],
    source: ["LiteLLM", "2026-08-06"],
  },
];
