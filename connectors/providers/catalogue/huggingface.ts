/**
 * Models of Hugging Face's router.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "openai/gpt-oss-120b",
    can: "TSR",
    window: 131_072,
    maxOutput: 32_768,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.25, output: 0.69 }],
    source: ["models.dev", "2026-07-02"],
  },
];
