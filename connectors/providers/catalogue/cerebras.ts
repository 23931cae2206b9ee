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
    source: ["www.cerebras.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "qwen-3.8-27b",
    can: "TSRV",
    window: 65_536,
    maxOutput: 32_768,
    pricing: [{ input: 0.99, output: 1.49 }],
    source: ["api.cerebras.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "gemma-4-31b",
    can: "TSRV",
    window: 131_072,
    maxOutput: 40_960,
    pricing: [{ input: 0.99, output: 1.49 }],
    source: ["api.cerebras.ai by LiteLLM", "2026-11-20"],
  },
];
