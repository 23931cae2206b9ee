/**
 * DeepSeek's models. Prices are list prices; off-peak prices are half of that.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "deepseek-flash",
    can: "TRV",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 393_216,
    isDefault: true,
    pricing: [{ input: 0.3, output: 1.2, cached_input: 0.006 }],
    source: ["api-docs.deepseek.com by LiteLLM, genai-prices and model-prices", "2026-11-20"],
  },
  {
    id: "deepseek-v4-flash",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 393_216,
    pricing: [
      { input: 0.14, output: 0.28, cached_input: 0.0028 },
      { input: 0.44, output: 1.32, cached_input: 0.014, from: "2026-08-16" },
      { input: 0.3, output: 1.2, cached_input: 0.006, from: "2026-09-10" },
    ],
    source: ["api-docs.deepseek.com by LiteLLM, genai-prices and model-prices", "2026-11-20"],
  },
  {
    id: "deepseek-v4-pro",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 393_216,
    isDefault: true,
    pricing: [
      { input: 0.435, output: 0.87, cached_input: 0.0036 },
      { input: 1.32, output: 3.96, cached_input: 0.044, from: "2026-08-16" },
    ],
    source: ["api-docs.deepseek.com by LiteLLM and model-prices", "2026-11-20"],
  },
];
