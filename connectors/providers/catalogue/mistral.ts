/**
 * Mistral's models. Documents are billed per page (USD 0.004 in 2026-08), which the price format does not support.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "mistral-large-4",
    can: "TSRV",
    window: 1_048_576,
    isDefault: true,
    pricing: [{ input: 0.7, output: 2.1, cached_input: 0.07 }],
    source: ["docs.mistral.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "mistral-large-2512",
    can: "TSV",
    window: 262_144,
    maxOutput: 262_144,
    pricing: [{ input: 0.5, output: 1.5, cached_input: 0.05 }],
    retires: "2027-04-30",
    source: ["docs.mistral.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "mistral-small-2603",
    can: "TSRV",
    window: 256_000,
    maxOutput: 256_000,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.6, cached_input: 0.015 }],
    source: ["docs.mistral.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "mistral-medium-2604",
    can: "TSRV",
    window: 262_144,
    maxOutput: 262_144,
    pricing: [{ input: 1.5, output: 7.5, cached_input: 0.15 }],
    source: ["docs.mistral.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "codestral-latest",
    can: "TS",
    window: 128_000,
    pricing: [{ input: 0.3, output: 0.9, cached_input: 0.03 }],
    source: ["docs.mistral.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "mistral-embed",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_024,
    hasFixedSize: true,
    isDefault: true,
    pricing: [{ input: 0.1 }],
    source: ["LiteLLM, Portkey, docs.mistral.ai", "2026-08-21"],
  },
  {
    id: "codestral-embed",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_536,
    hasFixedSize: true,
    pricing: [{ input: 0.15 }],
    source: ["LiteLLM, Portkey", "2026-08-21"],
  },
  {
    id: "voxtral-mini-latest",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json",
    isDefault: true,
    pricing: [{ per_minute: 0.003 }],
    source: ["docs.mistral.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "mistral-ocr-latest",
    serves: ["document-understanding.document-parsing"],
    maxFile: 50_000_000,
    isDefault: true,
    pricing: null,
    source: ["LiteLLM, Portkey", "2026-08-21"],
  },
];
