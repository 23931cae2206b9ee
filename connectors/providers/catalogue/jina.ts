/**
 * Jina AI's models, and its search and reader, which are billed by tokens as well. Sources differ on the prices of its
 * third and later generations of embeddings.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
