/**
 * DeepSeek's models. Prices are list prices; off-peak prices are half of that.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "deepseek-v4-flash",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 384_000,
    isDefault: true,
    pricing: [
      { input: 0.14, output: 0.28, cached_input: 0.0028 },
      { input: 0.44, output: 1.32, cached_input: 0.014, from: "2026-08-16" },
    ],
    source: ["models.dev", "2026-09-01"],
  },
  {
    id: "deepseek-v4-pro",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 384_000,
    isDefault: true,
    pricing: [
      { input: 0.435, output: 0.87, cached_input: 0.0036 },
      { input: 1.32, output: 3.96, cached_input: 0.044, from: "2026-08-16" },
    ],
    source: ["models.dev", "2026-09-01"],
  },
];
