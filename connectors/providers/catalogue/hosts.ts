/**
 * Models of hosts of open models and of gateways, a list for each: DeepInfra, Novita, Nebius, Baseten, Vercel. Of
 * hundreds of models only a few are listed; `discovery.enumerate_models: true` requests the rest.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** DeepInfra's. */
export const deepinfra: readonly CatalogueEntry[] = [
  {
    id: "deepseek-ai/DeepSeek-V4-Flash-0731",
    can: "TSR",
    window: 1_048_576,
    maxOutput: 1_048_576,
    isDefault: true,
    pricing: [{ input: 0.06, output: 0.18, cached_input: 0.015 }],
    source: ["deepinfra.com/pricing by LiteLLM and a public client", "2026-11-20"],
  },
  {
    id: "openai/gpt-oss-120b",
    can: "TR",
    window: 131_072,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.037, output: 0.17 }],
    source: ["deepinfra.com/pricing by LiteLLM and a public client", "2026-11-20"],
  },
  {
    id: "deepseek-ai/DeepSeek-V4-Pro-0813",
    can: "TSR",
    window: 1_048_576,
    maxOutput: 1_048_576,
    pricing: [{ input: 1.3, output: 2.6, cached_input: 0.1 }],
    source: ["deepinfra.com/pricing by LiteLLM and a public client", "2026-11-20"],
  },
  {
    id: "MiniMaxAI/MiniMax-M3",
    can: "TSRV",
    window: 524_288,
    maxOutput: 524_288,
    pricing: [{ input: 0.28, output: 1.1, cached_input: 0.056 }],
    source: ["deepinfra.com/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "Qwen/Qwen3.8-27B",
    can: "TSRV",
    window: 262_144,
    maxOutput: 262_144,
    pricing: [{ input: 0.4, output: 3, cached_input: 0.04 }],
    source: ["deepinfra.com/pricing by LiteLLM", "2026-11-20"],
  },
];

/** Novita's. */
export const novita: readonly CatalogueEntry[] = [
  {
    id: "zai-org/glm-5.3-flash",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 131_072,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.5, cached_input: 0.03 }],
    source: ["api.novita.ai by public clients", "2026-09-23"],
  },
  {
    id: "openai/gpt-oss-120b",
    can: "TSR",
    window: 131_072,
    maxOutput: 32_768,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.05, output: 0.25 }],
    source: ["LiteLLM, a public client", "2026-11-20"],
  },
  {
    id: "zai-org/glm-5.3",
    can: "TSR",
    window: 1_048_576,
    maxOutput: 131_072,
    pricing: [{ input: 1.4, output: 4.4, cached_input: 0.26 }],
    source: ["api.novita.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "moonshotai/kimi-k3",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 1_048_576,
    pricing: [{ input: 3, output: 15, cached_input: 0.3 }],
    source: ["novita.ai/pricing by LiteLLM", "2026-11-20"],
  },
  {
    id: "baai/bge-m3",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_024,
    hasFixedSize: true,
    isDefault: true,
    pricing: [{ input: 0.01 }],
    source: ["LiteLLM", "2026-11-20"],
  },
];

/** Nebius Token Factory's. */
export const nebius: readonly CatalogueEntry[] = [
  {
    id: "openai/gpt-oss-120b",
    can: "TSR",
    window: 131_072,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.6, cached_input: 0.1 }],
    source: ["tokenfactory.nebius.com by LiteLLM and a public client", "2026-11-20"],
  },
  {
    id: "zai-org/GLM-5.3-Flash",
    can: "TSRV",
    window: 1_024_000,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.5, cached_input: 0.03 }],
    source: ["tokenfactory.nebius.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "zai-org/GLM-5.3",
    can: "TSR",
    window: 1_024_000,
    pricing: [{ input: 1.4, output: 4.4, cached_input: 0.26 }],
    source: ["tokenfactory.nebius.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "nvidia/Nemotron-3_5-Lightning",
    can: "TSR",
    window: 1_048_576,
    pricing: [{ input: 0.06, output: 0.24, cached_input: 0.03 }],
    source: ["tokenfactory.nebius.com by LiteLLM and a public client", "2026-11-20"],
  },
  {
    id: "Qwen/Qwen3-Embedding-8B",
    serves: ["representation.embeddings.text-embeddings"],
    window: 40_960,
    dimensions: 4_096,
    isDefault: true,
    pricing: [{ input: 0.01 }],
    source: ["tokenfactory.nebius.com by LiteLLM, huggingface.co", "2026-11-20"],
  },
];

/** Baseten's Model APIs. */
export const baseten: readonly CatalogueEntry[] = [
  {
    id: "zai-org/GLM-5.3-Flash",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 131_072,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.5, cached_input: 0.03 }],
    source: ["inference.baseten.co by LiteLLM and a public client", "2026-11-20"],
  },
  {
    id: "openai/gpt-oss-120b",
    can: "TSR",
    window: 128_072,
    maxOutput: 128_072,
    efforts: "low medium high",
    isDefault: true,
    pricing: [{ input: 0.1, output: 0.5 }],
    source: ["inference.baseten.co by LiteLLM and a public client", "2026-11-20"],
  },
  {
    id: "zai-org/GLM-5.3",
    can: "TSR",
    window: 1_048_576,
    maxOutput: 262_144,
    pricing: [{ input: 1.4, output: 4.4, cached_input: 0.14 }],
    source: ["inference.baseten.co by LiteLLM and a public client", "2026-11-20"],
  },
  {
    id: "moonshotai/Kimi-K3.1-Pro",
    can: "TSRV",
    window: 1_000_000,
    pricing: [{ input: 2, output: 10, cached_input: 0.2 }],
    source: ["inference.baseten.co by LiteLLM", "2026-11-20"],
  },
];

/** Vercel AI Gateway's: the prices of the models' own vendors. */
export const vercel: readonly CatalogueEntry[] = [
  {
    id: "zai/glm-5.3-flash",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 131_000,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.5, cached_input: 0.03 }],
    source: ["ai-gateway.vercel.sh by a public client", "2026-09-23"],
  },
  {
    id: "google/gemini-3.8-flash",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 65_535,
    isDefault: true,
    pricing: [
      { input: 0.75, output: 3.75, cached_input: 0.075 },
      { input: 1.5, output: 7.5, cached_input: 0.15, from: "2027-01-01" },
    ],
    source: ["ai-gateway.vercel.sh by a public client, ai.google.dev", "2026-11-21"],
  },
  {
    id: "openai/gpt-5.6-terra",
    can: "TSRV",
    window: 1_050_000,
    maxOutput: 128_000,
    pricing: [{ input: 2, output: 12, cached_input: 0.2, cache_write: 2.5 }],
    source: ["ai-gateway.vercel.sh by a public client", "2026-09-23"],
  },
  {
    id: "openai/text-embedding-3-small",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_536,
    isDefault: true,
    pricing: [{ input: 0.02 }],
    source: ["LiteLLM, vercel.com/docs/ai-gateway", "2026-11-20"],
  },
];
