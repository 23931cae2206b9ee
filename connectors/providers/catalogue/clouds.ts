/**
 * Models of clouds, a list for each.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/**
 * Bedrock's models. Ids with the prefix `global.` can be called from any commercial region. Other ids differ by region;
 * `us.`, `eu.` and similar prefixes denote cross-region inference.
 */
export const bedrock: readonly CatalogueEntry[] = [
  {
    id: "global.anthropic.claude-fable-5-1",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 10, output: 50, cached_input: 0.25, cache_write: 12.5 }],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "global.anthropic.claude-opus-5-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 4, output: 20, cached_input: 0.2, cache_write: 5 }],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "global.anthropic.claude-opus-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 5, output: 25, cached_input: 0.5, cache_write: 6.25 }],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "global.anthropic.claude-sonnet-5-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    isDefault: true,
    pricing: [{ input: 2, output: 10, cached_input: 0.1, cache_write: 2.5 }],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "global.anthropic.claude-sonnet-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 2, output: 10, cached_input: 0.2, cache_write: 2.5 }],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "global.anthropic.claude-haiku-5-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [
      { input: 0.1, output: 0.5, cached_input: 0.01, cache_write: 0.125 },
      { input: 0.5, output: 2.5, cached_input: 0.05, cache_write: 0.625, above_tokens: 100_000 },
    ],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "global.anthropic.claude-opus-4-8",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 5, output: 25, cached_input: 0.5, cache_write: 6.25 }],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "global.anthropic.claude-sonnet-4-6",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 64_000,
    pricing: [{ input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "global.anthropic.claude-haiku-4-5-20251001-v1:0",
    can: "TSRV",
    window: 200_000,
    maxOutput: 64_000,
    pricing: [{ input: 1, output: 5, cached_input: 0.1, cache_write: 1.25 }],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "global.amazon.nova-2-lite-v1:0",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 64_000,
    pricing: [{ input: 0.3, output: 2.5, cached_input: 0.075 }],
    source: ["pricing.us-east-1.amazonaws.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "amazon.nova-pro-v1:0",
    can: "TV",
    window: 300_000,
    maxOutput: 10_000,
    pricing: [{ input: 0.8, output: 3.2, cached_input: 0.2 }],
    source: ["pricing.us-east-1.amazonaws.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "amazon.nova-lite-v1:0",
    can: "TV",
    window: 300_000,
    maxOutput: 10_000,
    pricing: [{ input: 0.06, output: 0.24, cached_input: 0.015 }],
    source: ["pricing.us-east-1.amazonaws.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "amazon.nova-micro-v1:0",
    can: "T",
    window: 128_000,
    maxOutput: 10_000,
    pricing: [{ input: 0.035, output: 0.14, cached_input: 0.00875 }],
    source: ["pricing.us-east-1.amazonaws.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "openai.gpt-oss-120b-1:0",
    can: "TSR",
    window: 128_000,
    maxOutput: 16_384,
    pricing: [{ input: 0.15, output: 0.6 }],
    source: ["pricing.us-east-1.amazonaws.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "amazon.titan-embed-text-v2:0",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_024,
    isDefault: true,
    pricing: [{ input: 0.02 }],
    source: ["docs.aws.amazon.com, LiteLLM, genai-prices", "2026-11-20"],
  },
  {
    id: "cohere.embed-multilingual-v3",
    serves: ["representation.embeddings.text-embeddings"],
    window: 512,
    dimensions: 1_024,
    hasFixedSize: true,
    pricing: [{ input: 0.1 }],
    source: ["aws.amazon.com/bedrock/pricing by LiteLLM", "2026-11-20"],
  },
];

/** Cloudflare Workers AI's models. Images are billed by tiles and steps, which the price format does not support. */
export const cloudflare: readonly CatalogueEntry[] = [
  {
    id: "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
    can: "T",
    window: 24_000,
    maxOutput: 24_000,
    isDefault: true,
    pricing: [{ input: 0.293, output: 2.253 }],
    source: ["LiteLLM", "2026-11-20"],
  },
  {
    id: "@cf/openai/gpt-oss-120b",
    can: "TR",
    window: 128_000,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.35, output: 0.75 }],
    source: ["LiteLLM", "2026-11-20"],
  },
  {
    id: "@cf/zai-org/glm-4.7-flash",
    can: "TR",
    window: 131_072,
    pricing: [{ input: 0.0605, output: 0.4 }],
    source: ["LiteLLM", "2026-11-20"],
  },
  {
    id: "@cf/baai/bge-base-en-v1.5",
    serves: ["representation.embeddings.text-embeddings"],
    window: 512,
    dimensions: 768,
    hasFixedSize: true,
    isDefault: true,
    pricing: [{ input: 0.067 }],
    source: ["Portkey", "2026-08-21"],
  },
  {
    id: "@cf/black-forest-labs/flux-1-schnell",
    serves: ["generation.image.text-to-image"],
    hasOneImage: true,
    formats: "b64_json",
    isDefault: true,
    pricing: null,
    source: ["developers.cloudflare.com", "2026-11-22"],
  },
];
