/**
 * Voyage AI's models. The fourth generation shares one embedding space.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
