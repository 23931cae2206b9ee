/**
 * OpenRouter's models. The price of `openrouter/auto` depends on the selected model.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "openrouter/free",
    can: "TSRV",
    window: 200_000,
    isDefault: true,
    pricing: [{ input: 0, output: 0 }],
    source: ["models.dev by a public client", "2026-09-23"],
  },
  {
    id: "openai/gpt-oss-120b:free",
    can: "TR",
    features: { structured_output: false },
    window: 131_072,
    isDefault: true,
    pricing: [{ input: 0, output: 0 }],
    source: ["models.dev by a public client", "2026-09-23"],
  },
  {
    id: "qwen/qwen3-coder:free",
    can: "TR",
    features: { structured_output: false },
    window: 262_000,
    pricing: [{ input: 0, output: 0 }],
    source: ["models.dev by a public client", "2026-09-23"],
  },
  {
    id: "openrouter/auto",
    window: 2_000_000,
    pricing: null,
    source: ["models.dev by a public client", "2026-09-23"],
  },
];
