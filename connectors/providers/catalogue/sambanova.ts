/**
 * SambaNova's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "gpt-oss-120b",
    can: "TSR",
    window: 131_072,
    maxOutput: 131_072,
    isDefault: true,
    pricing: [{ input: 0.22, output: 0.59 }],
    source: ["models.dev", "2026-06-10"],
  },
  {
    id: "Meta-Llama-3.3-70B-Instruct",
    can: "TS",
    window: 131_072,
    maxOutput: 3_072,
    isDefault: true,
    pricing: [{ input: 0.6, output: 1.2 }],
    source: ["models.dev", "2026-06-10"],
  },
];
