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
    source: ["models.dev, LiteLLM", "2026-08-06"],
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
