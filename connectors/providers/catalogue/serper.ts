/**
 * Serper's search. It is billed in credits, which each response reports.
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
    source: ["LiteLLM", "2026-11-20"],
  },
];
