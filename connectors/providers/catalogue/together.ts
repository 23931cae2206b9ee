/**
 * Together AI's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
