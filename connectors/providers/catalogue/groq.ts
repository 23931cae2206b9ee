/**
 * Groq's models. `llama-3.3-70b-versatile` was retired on 2026-08-16.
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
    source: ["models.dev, genai-prices", "2026-08-21"],
  },
  {
    id: "openai/gpt-oss-20b",
    can: "TSR",
    window: 131_072,
    maxOutput: 65_536,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.075, output: 0.3, cached_input: 0.0375 }],
    source: ["models.dev, genai-prices", "2026-08-21"],
  },
  {
    id: "llama-3.1-8b-instant",
    can: "T",
    window: 131_072,
    maxOutput: 131_072,
    pricing: [{ input: 0.05, output: 0.08 }],
    source: ["models.dev, genai-prices", "2026-08-21"],
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
    pricing: null,
    source: ["models.dev, ha-groq's wiki", "2026-07-02"],
  },
];
