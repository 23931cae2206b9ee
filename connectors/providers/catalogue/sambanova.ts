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
    source: ["cloud.sambanova.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "Meta-Llama-3.3-70B-Instruct",
    can: "TS",
    window: 131_072,
    maxOutput: 3_072,
    isDefault: true,
    pricing: [{ input: 0.6, output: 1.2 }],
    source: ["cloud.sambanova.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "MiniMax-M2.7",
    can: "TR",
    window: 196_608,
    maxOutput: 131_072,
    pricing: [{ input: 0.6, output: 2.4 }],
    source: ["cloud.sambanova.ai by LiteLLM", "2026-11-20"],
  },
];
