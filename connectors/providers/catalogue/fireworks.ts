/**
 * Fireworks AI's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "accounts/fireworks/models/glm-5p3-flash",
    can: "TSV",
    window: 1_048_576,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.5, cached_input: 0.03 }],
    source: ["api.fireworks.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "accounts/fireworks/models/glm-5p3",
    can: "TSR",
    window: 1_048_576,
    maxOutput: 128_000,
    efforts: "low high max",
    isDefault: true,
    pricing: [{ input: 1.4, output: 4.4, cached_input: 0.26 }],
    source: ["api.fireworks.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "accounts/fireworks/models/deepseek-v4p1-flash",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 393_216,
    pricing: [{ input: 0.3, output: 1.2, cached_input: 0.006 }],
    source: ["docs.fireworks.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "accounts/fireworks/models/kimi-k3p1-pro",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 131_072,
    efforts: "low high max",
    pricing: [{ input: 2, output: 10, cached_input: 0.2 }],
    source: ["api.fireworks.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "accounts/fireworks/models/gpt-oss-20b",
    can: "TSR",
    window: 131_072,
    maxOutput: 32_768,
    efforts: "low medium high",
    pricing: [{ input: 0.07, output: 0.3, cached_input: 0.035 }],
    source: ["docs.fireworks.ai by LiteLLM", "2026-11-20"],
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
