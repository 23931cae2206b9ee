/**
 * Mistral's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "mistral-large-2512",
    can: "TSV",
    window: 262_144,
    maxOutput: 262_144,
    isDefault: true,
    pricing: [{ input: 0.5, output: 1.5, cached_input: 0.05 }],
    source: "models.dev",
    asOf: "2026-07-02",
  },
  {
    id: "mistral-small-2603",
    can: "TRV",
    window: 256_000,
    maxOutput: 256_000,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.6, cached_input: 0.015 }],
    source: "models.dev",
    asOf: "2026-07-02",
  },
  {
    id: "mistral-medium-2604",
    can: "TSRV",
    window: 262_144,
    maxOutput: 262_144,
    pricing: [{ input: 1.5, output: 7.5 }],
    source: "models.dev",
    asOf: "2026-07-02",
  },
  {
    id: "codestral-latest",
    can: "T",
    window: 256_000,
    maxOutput: 4_096,
    pricing: [{ input: 0.3, output: 0.9 }],
    source: "models.dev",
    asOf: "2026-07-02",
  },
  {
    id: "mistral-embed",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_000,
    isDefault: true,
    pricing: [{ input: 0.1 }],
    source: "models.dev",
    asOf: "2026-07-02",
  },
];
