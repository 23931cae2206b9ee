/**
 * Models of makers of open models: Moonshot (Kimi), Z.ai (GLM), Alibaba (Qwen) and MiniMax, a list for each. Prices are
 * those of the international platforms.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** Moonshot's. Cache write prices are for five minutes; one hour costs twice as much. */
export const moonshot: readonly CatalogueEntry[] = [
  {
    id: "kimi-k3.1-pro",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 1_048_576,
    efforts: "low high max",
    isDefault: true,
    pricing: [{ input: 2, output: 10, cached_input: 0.2, cache_write: 2, cache_write_1h: 4 }],
    source: ["platform.kimi.ai by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "kimi-k3.1-pro-highspeed",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 1_048_576,
    efforts: "low high max",
    pricing: [{ input: 4, output: 20, cached_input: 0.2, cache_write: 4, cache_write_1h: 8 }],
    source: ["platform.kimi.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "kimi-k3",
    can: "TSRV",
    window: 1_048_576,
    maxOutput: 1_048_576,
    efforts: "low high max",
    pricing: [
      { input: 3, output: 15, cached_input: 0.3 },
      { input: 3, output: 15, cached_input: 0.3, cache_write: 3, cache_write_1h: 6, from: "2026-10-07" },
    ],
    source: ["platform.kimi.ai by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "kimi-k2.7-code",
    can: "TSRV",
    window: 262_144,
    maxOutput: 262_144,
    isDefault: true,
    pricing: [{ input: 0.95, output: 4, cached_input: 0.19 }],
    source: ["platform.kimi.ai by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "kimi-k2.7-code-highspeed",
    can: "TSRV",
    window: 262_144,
    maxOutput: 262_144,
    pricing: [{ input: 1.9, output: 8, cached_input: 0.38 }],
    source: ["platform.kimi.ai by a public client", "2026-09-29"],
  },
  {
    id: "kimi-k2.6",
    can: "TSRV",
    window: 262_144,
    maxOutput: 262_144,
    rules: "optional",
    pricing: [{ input: 0.95, output: 4, cached_input: 0.16 }],
    source: ["platform.kimi.ai by LiteLLM and model-prices", "2026-11-20"],
  },
];

/** Z.ai's. None of them supports a JSON schema; all support JSON mode. */
export const zai: readonly CatalogueEntry[] = [
  {
    id: "glm-5.3",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 128_000,
    efforts: "low high max",
    isDefault: true,
    pricing: [{ input: 1.4, output: 4.4, cached_input: 0.26 }],
    source: ["docs.z.ai by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "glm-5.3-flash",
    can: "TRV",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 128_000,
    efforts: "low high max",
    isDefault: true,
    pricing: [
      { input: 0.075, output: 0.25, cached_input: 0.015 },
      { input: 0.15, output: 0.5, cached_input: 0.03, from: "2026-09-10" },
    ],
    source: ["docs.z.ai by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "glm-5.3-flashx",
    can: "TRV",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 128_000,
    efforts: "low high max",
    pricing: [{ input: 0.37, output: 1.25, cached_input: 0.075 }],
    source: ["docs.z.ai by a public client", "2026-09-29"],
  },
  {
    id: "glm-5.2",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 1_000_000,
    maxOutput: 128_000,
    rules: "optional",
    pricing: [{ input: 1.4, output: 4.4, cached_input: 0.26 }],
    source: ["docs.z.ai by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "glm-4.7",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 200_000,
    maxOutput: 128_000,
    rules: "optional",
    pricing: [{ input: 0.6, output: 2.2, cached_input: 0.11 }],
    source: ["docs.z.ai by LiteLLM", "2026-11-20"],
  },
  {
    id: "glm-4.7-flash",
    can: "TR",
    features: { structured_output: false, json_mode: true },
    window: 200_000,
    maxOutput: 128_000,
    rules: "optional",
    pricing: [{ input: 0, output: 0 }],
    source: ["docs.z.ai by LiteLLM and model-prices", "2026-11-20"],
  },
];

/** Alibaba's on Model Studio (DashScope), international. */
export const qwen: readonly CatalogueEntry[] = [
  {
    id: "qwen3.8-max",
    can: "TSRV",
    window: 991_808,
    maxOutput: 131_072,
    rules: "optional",
    isDefault: true,
    pricing: [{ input: 2, output: 6, cached_input: 0.25, cache_write: 2.5 }],
    source: ["www.alibabacloud.com by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "qwen3.8-flash",
    can: "TSRV",
    window: 991_808,
    maxOutput: 131_072,
    rules: "optional",
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.47, cached_input: 0.016, cache_write: 0.2 }],
    source: ["www.alibabacloud.com by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "qwen3.8-omni-flash",
    can: "TSRVA",
    window: 991_808,
    maxOutput: 131_072,
    rules: "optional",
    pricing: [{ input: 0.15, output: 0.47, cached_input: 0.016 }],
    source: ["www.alibabacloud.com by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "qwen3.7-max",
    can: "TSR",
    window: 991_808,
    maxOutput: 65_536,
    rules: "optional",
    pricing: [{ input: 2.5, output: 7.5, cached_input: 0.5, cache_write: 3.125 }],
    source: ["www.alibabacloud.com by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "qwen3.7-flash",
    can: "TSRV",
    window: 991_808,
    maxOutput: 65_536,
    rules: "optional",
    pricing: [
      { input: 0.03, output: 0.13, cached_input: 0.006, cache_write: 0.0375 },
      { input: 0.1, output: 0.4, cached_input: 0.02, cache_write: 0.125, above_tokens: 32_000 },
      { input: 0.2, output: 0.8, cached_input: 0.04, cache_write: 0.25, above_tokens: 256_000 },
    ],
    source: ["www.alibabacloud.com by model-prices", "2026-10-26"],
  },
  {
    id: "text-embedding-v4",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_024,
    isDefault: true,
    pricing: [{ input: 0.07 }],
    source: ["alibabacloud.com/help/en/model-studio", "2026-11-26"],
  },
];

/** MiniMax's. */
export const minimax: readonly CatalogueEntry[] = [
  {
    id: "MiniMax-M3",
    can: "TRV",
    window: 1_000_000,
    maxOutput: 524_288,
    rules: "optional",
    isDefault: true,
    pricing: [
      { input: 0.3, output: 1.2, cached_input: 0.06 },
      { input: 0.6, output: 2.4, cached_input: 0.12, above_tokens: 512_000 },
    ],
    source: ["platform.minimax.io by LiteLLM and model-prices", "2026-11-20"],
  },
  {
    id: "MiniMax-M3.1-Flash",
    can: "TRV",
    window: 1_000_000,
    maxOutput: 524_288,
    isDefault: true,
    pricing: [{ input: 0.15, output: 0.6, cached_input: 0.015 }],
    source: ["models.dev by model-prices", "2026-10-26"],
  },
  {
    id: "MiniMax-M2.7",
    can: "TR",
    window: 204_800,
    maxOutput: 204_800,
    pricing: [{ input: 0.3, output: 1.2, cached_input: 0.06, cache_write: 0.375 }],
    source: ["platform.minimax.io by a public client", "2026-09-29"],
  },
];
