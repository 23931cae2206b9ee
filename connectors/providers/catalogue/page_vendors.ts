/**
 * Models of vendors that web pages can call, a list for each.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** Groq's models. Its two models of Llama 3 were retired on 2026-08-16. */
export const groq: readonly CatalogueEntry[] = [
  {
    id: "openai/gpt-oss-120b",
    can: "TSR",
    window: 131_072,
    maxOutput: 65_536,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.6, cached_input: 0.075 }],
    source: ["LiteLLM, genai-prices", "2026-11-20"],
  },
  {
    id: "openai/gpt-oss-20b",
    can: "TSR",
    window: 131_072,
    maxOutput: 65_536,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.075, output: 0.3, cached_input: 0.0375 }],
    source: ["LiteLLM, genai-prices", "2026-11-20"],
  },
  {
    id: "qwen/qwen3.8-27b",
    can: "TSRV",
    window: 131_072,
    maxOutput: 16_384,
    efforts: "none low medium high",
    pricing: [{ input: 0.8, output: 4 }],
    source: ["console.groq.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "whisper-large-v3-turbo",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text verbose_json",
    lacks: ["audio-translation"],
    isDefault: true,
    pricing: [{ per_minute: 0.000667 }],
    source: ["groq.com/pricing, quoted; LiteLLM", "2026-08-31"],
  },
  {
    id: "whisper-large-v3",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text verbose_json",
    pricing: [{ per_minute: 0.00185 }],
    source: ["LiteLLM", "2026-08-06"],
  },
  {
    id: "canopylabs/orpheus-v1-english",
    serves: ["generation.audio.text-to-speech"],
    voices: "autumn diana hannah austin daniel troy",
    formats: "wav",
    isDefault: true,
    pricing: [{ per_million_characters: 22 }],
    source: ["console.groq.com by LiteLLM", "2026-11-20"],
  },
];

/** Mistral's models. Documents are billed per page (USD 0.004 in 2026-08), which the price format does not support. */
export const mistral: readonly CatalogueEntry[] = [
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

/** OpenRouter's models. The price of `openrouter/auto` depends on the selected model. */
export const openrouter: readonly CatalogueEntry[] = [
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
