/**
 * Cloudflare Workers AI's models. Images are billed by tiles and steps, which the price format does not support.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
