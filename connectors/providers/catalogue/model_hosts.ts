/**
 * Models of hosts of open models, a list for each.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** Together AI's models. */
export const together: readonly CatalogueEntry[] = [
  {
    id: "zai-org/GLM-5.3-Flash",
    can: "TSRV",
    window: 1_048_575,
    maxOutput: 128_000,
    efforts: "low medium high max",
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.5, cached_input: 0.03 }],
    source: ["docs.together.ai, api.together.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "openai/gpt-oss-120b",
    can: "TSR",
    window: 131_072,
    maxOutput: 131_072,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.6 }],
    source: ["api.together.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "zai-org/GLM-5.3",
    can: "TSR",
    window: 1_048_575,
    maxOutput: 128_000,
    efforts: "low medium high max",
    pricing: [{ input: 1.4, output: 4.4, cached_input: 0.26 }],
    source: ["docs.together.ai, api.together.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "deepseek-ai/DeepSeek-V4.1-Flash",
    can: "TS",
    window: 1_048_576,
    pricing: [{ input: 0.3, output: 1.2, cached_input: 0.006 }],
    source: ["api.together.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "moonshotai/Kimi-K3.1-Pro",
    can: "TSRV",
    window: 1_048_576,
    efforts: "low high max",
    pricing: [{ input: 2, output: 10, cached_input: 0.2 }],
    source: ["api.together.ai by LiteLLM", "2026-11-20"],
  },
];

/** Fireworks AI's models. */
export const fireworks: readonly CatalogueEntry[] = [
  {
    id: "accounts/fireworks/models/glm-5p3-flash",
    can: "TSV",
    window: 1_048_576,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.5, cached_input: 0.03 }],
    tiers: { priority: 1.25 },
    source: ["api.fireworks.ai by LiteLLM", "2026-11-26"],
  },
  {
    id: "accounts/fireworks/models/glm-5p3",
    can: "TSR",
    window: 1_048_576,
    maxOutput: 128_000,
    efforts: "low high max",
    isDefault: true,
    pricing: [{ input: 1.4, output: 4.4, cached_input: 0.26 }],
    tiers: { priority: 1.25 },
    source: ["api.fireworks.ai by LiteLLM", "2026-11-26"],
  },
  {
    id: "accounts/fireworks/models/deepseek-v4p1-flash",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 393_216,
    pricing: [{ input: 0.3, output: 1.2, cached_input: 0.006 }],
    tiers: { priority: 1.25 },
    source: ["docs.fireworks.ai by LiteLLM", "2026-11-26"],
  },
  {
    id: "accounts/fireworks/models/kimi-k3p1-pro",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 131_072,
    efforts: "low high max",
    pricing: [{ input: 2, output: 10, cached_input: 0.2 }],
    tiers: { priority: 1.5 },
    source: ["api.fireworks.ai by LiteLLM", "2026-11-26"],
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

/** SambaNova's models. */
export const sambanova: readonly CatalogueEntry[] = [
  {
    id: "gpt-oss-120b",
    can: "TSR",
    window: 131_072,
    maxOutput: 131_072,
    isDefault: true,
    pricing: [{ input: 0.22, output: 0.59 }],
    source: ["cloud.sambanova.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "Meta-Llama-3.3-70B-Instruct",
    can: "TS",
    window: 131_072,
    maxOutput: 3_072,
    isDefault: true,
    pricing: [{ input: 0.6, output: 1.2 }],
    source: ["cloud.sambanova.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "MiniMax-M2.7",
    can: "TR",
    window: 196_608,
    maxOutput: 131_072,
    pricing: [{ input: 0.6, output: 2.4 }],
    source: ["cloud.sambanova.ai by LiteLLM", "2026-11-20"],
  },
];

/** NVIDIA NIM's hosted models: free, with rate limits. */
export const nvidia: readonly CatalogueEntry[] = [
  {
    id: "openai/gpt-oss-120b",
    can: "TR",
    window: 128_000,
    maxOutput: 8_192,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0, output: 0 }],
    source: ["models.dev by a public client", "2026-09-23"],
  },
  {
    id: "meta/llama-3.3-70b-instruct",
    can: "T",
    window: 128_000,
    maxOutput: 4_096,
    pricing: [{ input: 0, output: 0 }],
    source: ["models.dev by a public client", "2026-09-23"],
  },
];

/** Models of Hugging Face's router. */
export const huggingface: readonly CatalogueEntry[] = [
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

/** Cerebras's models. */
export const cerebras: readonly CatalogueEntry[] = [
  {
    id: "gpt-oss-120b",
    can: "TSR",
    window: 131_072,
    maxOutput: 40_000,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.35, output: 0.75 }],
    source: ["www.cerebras.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "qwen-3.8-27b",
    can: "TSRV",
    window: 65_536,
    maxOutput: 32_768,
    pricing: [{ input: 0.99, output: 1.49 }],
    source: ["api.cerebras.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "gemma-4-31b",
    can: "TSRV",
    window: 131_072,
    maxOutput: 40_960,
    pricing: [{ input: 0.99, output: 1.49 }],
    source: ["api.cerebras.ai by LiteLLM", "2026-11-20"],
  },
];
