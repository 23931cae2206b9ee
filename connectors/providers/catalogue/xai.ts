/**
 * xAI's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
