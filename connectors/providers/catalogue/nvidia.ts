/**
 * NVIDIA NIM's hosted models: free, with rate limits.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "meta/llama-3.3-70b-instruct",
    can: "T",
    window: 128_000,
    maxOutput: 4_096,
    isDefault: true,
    pricing: [{ input: 0, output: 0 }],
    source: ["models.dev", "2026-07-02"],
  },
];
