/**
 * Fireworks AI's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "accounts/fireworks/models/glm-5p2",
    can: "TR",
    window: 1_048_576,
    maxOutput: 131_072,
    efforts: "none high max",
    isDefault: true,
    pricing: [{ input: 1.4, output: 4.4, cached_input: 0.14 }],
    source: ["genai-prices, LiteLLM", "2026-08-21"],
  },
  {
    id: "nomic-ai/nomic-embed-text-v1.5",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 768,
    isDefault: true,
    pricing: [{ input: 0.008 }],
    source: ["Portkey", "2026-08-21"],
  },
  {
    id: "accounts/fireworks/models/flux-1-schnell-fp8",
    serves: ["generation.image.text-to-image"],
    hasOneImage: true,
    formats: "b64_json",
    isDefault: true,
    pricing: null,
    source: ["docs.fireworks.ai", "2026-11-23"],
  },
  {
    id: "whisper-v3-turbo",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt verbose_json vtt",
    isDefault: true,
    pricing: [{ per_minute: 0.0009 }],
    source: ["fireworks.ai/models/fireworks/whisper-v3-turbo", "2026-11-23"],
  },
  {
    id: "whisper-v3",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt verbose_json vtt",
    pricing: null,
    source: ["docs.fireworks.ai", "2026-11-23"],
  },
];
