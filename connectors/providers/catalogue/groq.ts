/**
 * Groq's models. Its two models of Llama 3 were retired on 2026-08-16.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
