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
    source: ["models.dev by a public client", "2026-09-23"],
  },
  {
    id: "zai-org/GLM-5.3-Flash",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 131_072,
    efforts: "low high max",
    pricing: [{ input: 0.15, output: 0.5 }],
    source: ["models.dev by a public client", "2026-09-23"],
  },
];
