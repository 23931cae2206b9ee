/**
 * Cerebras's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "gpt-oss-120b",
    can: "TSR",
    window: 131_072,
    maxOutput: 40_000,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.35, output: 0.75 }],
    source: ["models.dev, genai-prices", "2026-08-21"],
  },
];
