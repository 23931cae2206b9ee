/**
 * Together AI's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    can: "TS",
    window: 131_072,
    maxOutput: 131_072,
    isDefault: true,
    pricing: [{ input: 0.88, output: 0.88 }],
    source: ["models.dev, LiteLLM, genai-prices", "2026-08-21"],
  },
];
