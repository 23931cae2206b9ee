/**
 * Firecrawl's search, priced for ten results, and its page reader, which is billed in credits.
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
    source: ["LiteLLM", "2026-11-20"],
  },
  {
    id: "scrape",
    serves: ["document-understanding.document-parsing"],
    maxFile: 0,
    isDefault: true,
    pricing: null,
    source: ["docs.firecrawl.dev", "2026-11-22"],
  },
];
