/**
 * Mistral's models. Documents are billed per page (USD 0.004 in 2026-08), which the price format does not support.
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
    source: ["models.dev, LiteLLM, genai-prices", "2026-08-21"],
  },
  {
    id: "mistral-small-2603",
    can: "TRV",
    window: 256_000,
    maxOutput: 256_000,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.6, cached_input: 0.015 }],
    source: ["models.dev, genai-prices", "2026-08-21"],
  },
  {
    id: "mistral-medium-2604",
    can: "TSRV",
    window: 262_144,
    maxOutput: 262_144,
    pricing: [{ input: 1.5, output: 7.5 }],
    source: ["models.dev, LiteLLM", "2026-08-06"],
  },
  {
    id: "codestral-latest",
    can: "T",
    window: 256_000,
    maxOutput: 4_096,
    pricing: [{ input: 0.3, output: 0.9 }],
    source: ["models.dev", "2026-07-02"],
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
    pricing: null,
    source: ["docs.openwebui.com", "2026-11-22"],
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
