/**
 * Models of embeddings and reranking, and search engines: a list for each vendor.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** Voyage AI's models. The fourth generation shares one embedding space. */
export const voyage: readonly CatalogueEntry[] = [
  {
    id: "voyage-4-large",
    serves: ["representation.embeddings.text-embeddings"],
    window: 32_000,
    dimensions: 1_024,
    space: "voyage-4",
    pricing: [{ input: 0.12 }],
    source: ["docs.voyageai.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "voyage-4",
    serves: ["representation.embeddings.text-embeddings"],
    window: 32_000,
    dimensions: 1_024,
    space: "voyage-4",
    isDefault: true,
    pricing: [{ input: 0.06 }],
    source: ["docs.voyageai.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "voyage-4-lite",
    serves: ["representation.embeddings.text-embeddings"],
    window: 32_000,
    dimensions: 1_024,
    space: "voyage-4",
    pricing: [{ input: 0.02 }],
    source: ["docs.voyageai.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "voyage-code-4",
    serves: ["representation.embeddings.text-embeddings"],
    window: 32_000,
    dimensions: 1_024,
    pricing: [{ input: 0.12 }],
    source: ["docs.voyageai.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "voyage-code-3",
    serves: ["representation.embeddings.text-embeddings"],
    window: 32_000,
    dimensions: 1_024,
    pricing: [{ input: 0.18 }],
    source: ["genai-prices, docs.voyageai.com", "2026-08-21"],
  },
  {
    id: "rerank-3",
    serves: ["retrieval.reranking"],
    window: 32_000,
    isDefault: true,
    pricing: [{ input: 0.05 }],
    source: ["docs.voyageai.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "rerank-3-lite",
    serves: ["retrieval.reranking"],
    window: 32_000,
    pricing: [{ input: 0.02 }],
    source: ["docs.voyageai.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "rerank-2.5",
    serves: ["retrieval.reranking"],
    window: 32_000,
    pricing: [{ input: 0.05 }],
    source: ["Portkey, docs.voyageai.com", "2026-08-21"],
  },
  {
    id: "rerank-2.5-lite",
    serves: ["retrieval.reranking"],
    window: 32_000,
    pricing: [{ input: 0.02 }],
    source: ["Portkey, docs.voyageai.com", "2026-08-21"],
  },
];

/**
 * Jina AI's models, and its search and reader, which are billed by tokens as well. Sources differ on the prices of its
 * third and later generations of embeddings.
 */
export const jina: readonly CatalogueEntry[] = [
  {
    id: "jina-embeddings-v5-text-small",
    serves: ["representation.embeddings.text-embeddings"],
    window: 32_768,
    dimensions: 1_024,
    isDefault: true,
    pricing: null,
    source: ["jina-ai/MCP, mem0#4110", "2026-11-22"],
  },
  {
    id: "jina-embeddings-v5-text-nano",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 768,
    pricing: null,
    source: ["mem0#4110", "2026-11-22"],
  },
  {
    id: "jina-embeddings-v4",
    serves: ["representation.embeddings.text-embeddings"],
    window: 32_768,
    dimensions: 2_048,
    pricing: null,
    source: ["jina-ai/meta-prompt, qdrant.tech", "2026-11-22"],
  },
  {
    id: "jina-embeddings-v3",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_024,
    pricing: null,
    source: ["jina-ai/meta-prompt, qdrant.tech", "2026-11-22"],
  },
  {
    id: "jina-embeddings-v2-base-en",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 768,
    hasFixedSize: true,
    pricing: [{ input: 0.02 }],
    source: ["Portkey, qdrant.tech", "2026-08-21"],
  },
  {
    id: "jina-reranker-v3.5",
    serves: ["retrieval.reranking"],
    window: 131_072,
    isDefault: true,
    pricing: [{ input: 0.05 }],
    source: ["api.jina.ai by LiteLLM, elastic/docs-content#7584", "2026-11-20"],
  },
  {
    id: "jina-reranker-v3",
    serves: ["retrieval.reranking"],
    window: 131_072,
    pricing: [{ input: 0.05 }],
    source: ["Portkey, elastic/docs-content#7584", "2026-08-21"],
  },
  {
    id: "search",
    serves: ["retrieval.search.web-search"],
    isDefault: true,
    pricing: null,
    source: ["public clients of s.jina.ai", "2026-11-22"],
  },
  {
    id: "reader",
    serves: ["document-understanding.document-parsing"],
    maxFile: 0,
    isDefault: true,
    pricing: null,
    source: ["public clients of r.jina.ai", "2026-11-22"],
  },
];

/** Tavily's search. The model is the search depth. */
export const tavily: readonly CatalogueEntry[] = [
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

/** Serper's search. It is billed in credits, which each response reports. */
export const serper: readonly CatalogueEntry[] = [
  {
    id: "search",
    serves: ["retrieval.search.web-search"],
    isDefault: true,
    pricing: [{ per_search: 0.001 }],
    source: ["LiteLLM", "2026-11-20"],
  },
];

/** Firecrawl's search, priced for ten results, and its page reader, which is billed in credits. */
export const firecrawl: readonly CatalogueEntry[] = [
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
