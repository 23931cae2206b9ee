/**
 * NVIDIA NIM's hosted models: free, with rate limits.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "openai/gpt-oss-120b",
    can: "TR",
    window: 128_000,
    maxOutput: 8_192,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0, output: 0 }],
    source: ["models.dev by a public client", "2026-09-23"],
  },
  {
    id: "meta/llama-3.3-70b-instruct",
    can: "T",
    window: 128_000,
    maxOutput: 4_096,
    pricing: [{ input: 0, output: 0 }],
    source: ["models.dev by a public client", "2026-09-23"],
  },
];
