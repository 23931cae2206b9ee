/**
 * Cohere's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "command-a-plus-05-2026",
    can: "TSRV",
    window: 128_000,
    maxOutput: 64_000,
    efforts: "none high",
    isDefault: true,
    pricing: [{ input: 2.5, output: 10 }],
    source: ["models.dev", "2026-07-02"],
  },
  {
    id: "command-r7b-12-2024",
    can: "TS",
    window: 128_000,
    maxOutput: 4_000,
    pricing: [{ input: 0.0375, output: 0.15 }],
    source: ["models.dev, LiteLLM", "2026-08-06"],
  },
  {
    id: "embed-v5.0-fast",
    serves: ["representation.embeddings.text-embeddings"],
    window: 128_000,
    dimensions: 2_048,
    space: "embed-v5.0",
    isDefault: true,
    pricing: [{ input: 0.08 }],
    source: ["cohere.com/pricing, docs.cohere.com", "2026-11-26"],
  },
  {
    id: "embed-v5.0-pro",
    serves: ["representation.embeddings.text-embeddings"],
    window: 128_000,
    dimensions: 2_048,
    space: "embed-v5.0",
    pricing: [{ input: 0.12 }],
    source: ["vercel.com/ai-gateway/models, docs.cohere.com", "2026-11-26"],
  },
  {
    id: "embed-v4.0",
    serves: ["representation.embeddings.text-embeddings"],
    window: 128_000,
    dimensions: 1_536,
    pricing: [{ input: 0.12 }],
    source: ["cohere.com/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "rerank-v3.5",
    serves: ["retrieval.reranking"],
    pricing: [{ per_search: 0.002 }],
    source: ["models.dev, LiteLLM", "2026-08-06"],
  },
  {
    id: "rerank-v4.0-fast",
    serves: ["retrieval.reranking"],
    isDefault: true,
    pricing: [{ per_search: 0.002 }],
    source: ["cohere.com/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "rerank-v4.0-pro",
    serves: ["retrieval.reranking"],
    pricing: [{ per_search: 0.0025 }],
    source: ["cohere.com/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "rerank-v5.0-fast",
    serves: ["retrieval.reranking"],
    window: 32_768,
    pricing: [{ input: 0.02 }],
    source: ["cohere.com/blog/rerank-5 by LiteLLM", "2026-11-20"],
  },
  {
    id: "rerank-v5.0-pro",
    serves: ["retrieval.reranking"],
    window: 32_768,
    pricing: [{ input: 0.05 }],
    source: ["cohere.com/blog/rerank-5 by LiteLLM", "2026-11-20"],
  },
];
