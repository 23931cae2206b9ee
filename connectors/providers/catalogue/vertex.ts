/**
 * Vertex AI's models by Google and Anthropic. Prices are for the location `global`.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "gemini-3.5-flash",
    can: "TSRVA",
    also: ["understanding.audio.speech-to-text"],
    window: 1_048_576,
    maxOutput: 65_536,
    formats: "json text",
    isDefault: true,
    pricing: [{ input: 1.5, output: 9, cached_input: 0.15, audio_input: 1.5 }],
    source: ["models.dev", "2026-07-02"],
  },
  {
    id: "gemini-3.1-pro-preview",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [
      { input: 2, output: 12, cached_input: 0.2 },
      { above_tokens: 200_000, input: 4, output: 18, cached_input: 0.4 },
    ],
    source: ["models.dev", "2026-07-02"],
  },
  {
    id: "gemini-3.1-flash-lite",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [{ input: 0.25, output: 1.5, cached_input: 0.025, audio_input: 0.5 }],
    source: ["models.dev", "2026-07-02"],
  },
  {
    id: "claude-sonnet-5@default",
    can: "TSRV",
    features: { json_mode: false },
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 2, output: 10, cached_input: 0.2, cache_write: 2.5 }],
    source: ["models.dev", "2026-07-02"],
  },
  {
    id: "claude-haiku-4-5@20251001",
    can: "TSRV",
    features: { json_mode: false },
    window: 200_000,
    maxOutput: 64_000,
    isDefault: true,
    pricing: [{ input: 1, output: 5, cached_input: 0.1, cache_write: 1.25 }],
    source: ["models.dev", "2026-07-02"],
  },
  {
    id: "gemini-embedding-001",
    serves: ["representation.embeddings.text-embeddings"],
    window: 2_048,
    dimensions: 3_072,
    isDefault: true,
    pricing: [{ input: 0.15 }],
    source: ["LiteLLM", "2026-07-24"],
  },
  {
    id: "text-embedding-005",
    serves: ["representation.embeddings.text-embeddings"],
    window: 2_048,
    dimensions: 768,
    pricing: null,
    source: ["LiteLLM", "2026-07-24"],
  },
  {
    id: "gemini-3.8-flash-lite-tts",
    serves: ["generation.audio.text-to-speech"],
    window: 8_192,
    voices:
      "Kore Zephyr Puck Charon Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix Sadachbia Sadaltager Sulafat",
    formats: "wav pcm",
    isDefault: true,
    pricing: null,
    source: ["docs.cloud.google.com", "2026-11-23"],
  },
];
