/**
 * Bedrock's models. Ids with the prefix `global.` can be called from any commercial region. Other ids differ by region;
 * `us.`, `eu.` and similar prefixes denote cross-region inference.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "global.anthropic.claude-opus-4-8",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 5, output: 25, cached_input: 0.5, cache_write: 6.25 }],
    source: ["models.dev, LiteLLM", "2026-08-06"],
  },
  {
    id: "global.anthropic.claude-sonnet-4-6",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 64_000,
    pricing: [{ input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }],
    source: ["models.dev, LiteLLM", "2026-08-06"],
  },
  {
    id: "global.anthropic.claude-haiku-4-5-20251001-v1:0",
    can: "TSRV",
    window: 200_000,
    maxOutput: 64_000,
    isDefault: true,
    pricing: [{ input: 1, output: 5, cached_input: 0.1, cache_write: 1.25 }],
    source: ["models.dev, LiteLLM, genai-prices", "2026-08-21"],
  },
  {
    id: "amazon.nova-pro-v1:0",
    can: "TV",
    window: 300_000,
    maxOutput: 8_192,
    pricing: [{ input: 0.8, output: 3.2, cached_input: 0.2 }],
    source: ["models.dev, genai-prices", "2026-08-21"],
  },
  {
    id: "amazon.nova-lite-v1:0",
    can: "TV",
    window: 300_000,
    maxOutput: 8_192,
    pricing: [{ input: 0.06, output: 0.24, cached_input: 0.015 }],
    source: ["models.dev, genai-prices", "2026-08-21"],
  },
  {
    id: "amazon.nova-micro-v1:0",
    can: "T",
    window: 128_000,
    maxOutput: 8_192,
    pricing: [{ input: 0.035, output: 0.14, cached_input: 0.00875 }],
    source: ["models.dev, genai-prices", "2026-08-21"],
  },
  {
    id: "openai.gpt-oss-120b-1:0",
    can: "TSR",
    window: 128_000,
    maxOutput: 16_384,
    pricing: [{ input: 0.15, output: 0.6 }],
    source: ["models.dev, genai-prices", "2026-08-21"],
  },
  {
    id: "amazon.titan-embed-text-v2:0",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_024,
    isDefault: true,
    pricing: null,
    source: ["docs.aws.amazon.com, LiteLLM", "2026-11-23"],
  },
  {
    id: "cohere.embed-multilingual-v3",
    serves: ["representation.embeddings.text-embeddings"],
    window: 512,
    dimensions: 1_024,
    hasFixedSize: true,
    pricing: [{ input: 0.1 }],
    source: ["LiteLLM", "2026-07-24"],
  },
];
