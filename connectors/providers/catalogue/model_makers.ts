/**
 * Models of makers with an OpenAI-compatible API, a list for each.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/**
 * DeepSeek's models. From Monday to Friday, prices are twice as high from 01:00 to 04:00 and from 06:00 to 10:00 UTC
 * (api-docs.deepseek.com/quick_start/pricing by cmd-usage and llm-api-pricing#44).
 */
export const deepseek: readonly CatalogueEntry[] = [
  {
    id: "deepseek-flash",
    can: "TRV",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 393_216,
    isDefault: true,
    pricing: [
      { input: 0.15, output: 0.6, cached_input: 0.003 },
      { input: 0.3, output: 1.2, cached_input: 0.006, hours: "mon-fri 01:00-04:00" },
      { input: 0.3, output: 1.2, cached_input: 0.006, hours: "mon-fri 06:00-10:00" },
    ],
    source: ["api-docs.deepseek.com by LiteLLM, genai-prices and model-prices", "2026-11-20"],
  },
  {
    id: "deepseek-v4-flash",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 393_216,
    pricing: [
      { input: 0.14, output: 0.28, cached_input: 0.0028 },
      { input: 0.44, output: 1.32, cached_input: 0.014, from: "2026-08-16" },
      { input: 0.15, output: 0.6, cached_input: 0.003, from: "2026-09-10" },
      { input: 0.3, output: 1.2, cached_input: 0.006, from: "2026-09-10", hours: "mon-fri 01:00-04:00" },
      { input: 0.3, output: 1.2, cached_input: 0.006, from: "2026-09-10", hours: "mon-fri 06:00-10:00" },
    ],
    source: ["api-docs.deepseek.com by LiteLLM, genai-prices and model-prices", "2026-11-20"],
  },
  {
    id: "deepseek-v4-pro",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 393_216,
    isDefault: true,
    pricing: [
      { input: 0.435, output: 0.87, cached_input: 0.0036 },
      { input: 0.66, output: 1.98, cached_input: 0.022, from: "2026-08-16" },
      { input: 1.32, output: 3.96, cached_input: 0.044, from: "2026-08-16", hours: "mon-fri 01:00-04:00" },
      { input: 1.32, output: 3.96, cached_input: 0.044, from: "2026-08-16", hours: "mon-fri 06:00-10:00" },
    ],
    source: ["api-docs.deepseek.com by LiteLLM and model-prices", "2026-11-20"],
  },
];

/** xAI's models. */
export const xai: readonly CatalogueEntry[] = [
  {
    id: "grok-4.3",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 30_000,
    efforts: "none low medium high",
    isDefault: true,
    pricing: [
      { input: 1.25, output: 2.5, cached_input: 0.2 },
      { input: 2.5, output: 5, cached_input: 0.4, above_tokens: 200_000 },
    ],
    source: ["api.x.ai by LiteLLM, genai-prices", "2026-11-20"],
  },
  {
    id: "grok-4.7",
    can: "TSRV",
    window: 500_000,
    efforts: "low medium high xhigh",
    isDefault: true,
    pricing: [
      { input: 2, output: 6, cached_input: 0.5 },
      { input: 4, output: 12, cached_input: 1, above_tokens: 200_000 },
    ],
    source: ["docs.x.ai by LiteLLM, model-prices and a public client", "2026-11-20"],
  },
  {
    id: "grok-4.6",
    can: "TRV",
    window: 500_000,
    efforts: "low medium high xhigh",
    pricing: [
      { input: 2, output: 6, cached_input: 0.5 },
      { input: 4, output: 12, cached_input: 1, above_tokens: 200_000 },
    ],
    source: ["docs.x.ai, docs.apiyi.com", "2026-11-22"],
  },
  {
    id: "grok-4.5",
    can: "TSRV",
    window: 500_000,
    efforts: "low medium high",
    pricing: [
      { input: 2, output: 6, cached_input: 0.3 },
      { input: 4, output: 12, cached_input: 0.6, above_tokens: 200_000 },
    ],
    source: ["api.x.ai by LiteLLM, genai-prices", "2026-11-20"],
  },
  {
    id: "grok-imagine-image",
    serves: ["generation.image.text-to-image", "generation.image.image-to-image"],
    maxImages: 1,
    formats: "url b64_json",
    isDefault: true,
    pricing: [{ per_image: 0.02 }],
    source: ["docs.x.ai, docs.crazyrouter.com, docs.laozhang.ai", "2026-11-22"],
  },
];

/** Perplexity's models. The fee per request depends on the search context size; the highest is listed. */
export const perplexity: readonly CatalogueEntry[] = [
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

/** Cohere's models. */
export const cohere: readonly CatalogueEntry[] = [
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
