/**
 * Anthropic's models available to a new account, most capable first. Cache write prices are for five minutes; one hour
 * costs 1.6 times as much.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "claude-fable-5-2",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 8, output: 40, cached_input: 0.2, cache_write: 10, cache_write_1h: 16 }],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    source: ["platform.claude.com", "2026-11-21"],
  },
  {
    id: "claude-fable-5-1",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 10, output: 50, cached_input: 0.25, cache_write: 12.5, cache_write_1h: 20 }],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
  {
    id: "claude-fable-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 10, output: 50, cached_input: 1, cache_write: 12.5, cache_write_1h: 20 }],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
  {
    id: "claude-opus-5-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 4, output: 20, cached_input: 0.2, cache_write: 5, cache_write_1h: 8 }],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    tiers: { fast: 2 },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
  {
    id: "claude-opus-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 5, output: 25, cached_input: 0.5, cache_write: 6.25, cache_write_1h: 10 }],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    tiers: { fast: 2 },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
  {
    id: "claude-opus-4-8",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 5, output: 25, cached_input: 0.5, cache_write: 6.25, cache_write_1h: 10 }],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    tiers: { fast: 2 },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
  {
    id: "claude-sonnet-5-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    isDefault: true,
    pricing: [
      { input: 2, output: 10, cached_input: 0.2, cache_write: 2.5, cache_write_1h: 4 },
      { input: 2, output: 10, cached_input: 0.1, cache_write: 2.5, cache_write_1h: 4, from: "2026-10-07" },
    ],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
  {
    id: "claude-sonnet-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 2, output: 10, cached_input: 0.2, cache_write: 2.5, cache_write_1h: 4 }],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
  {
    id: "claude-sonnet-4-6",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [{ input: 3, output: 15, cached_input: 0.3, cache_write: 3.75, cache_write_1h: 6 }],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
  {
    id: "claude-haiku-5-5",
    can: "TSRV",
    window: 1_000_000,
    maxOutput: 128_000,
    pricing: [
      { input: 0.1, output: 0.5, cached_input: 0.01, cache_write: 0.125, cache_write_1h: 0.2 },
      { input: 0.5, output: 2.5, cached_input: 0.05, cache_write: 0.625, cache_write_1h: 1, above_tokens: 100_000 },
    ],
    everyRow: { per_search: 0.01, multipliers: { inference_geo: { us: 1.1 } } },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
  {
    id: "claude-haiku-4-5",
    can: "TSRV",
    window: 200_000,
    maxOutput: 64_000,
    pricing: [{ input: 1, output: 5, cached_input: 0.1, cache_write: 1.25, cache_write_1h: 2 }],
    everyRow: { per_search: 0.01 },
    source: ["platform.claude.com, LiteLLM (tiers, fees)", "2026-11-21"],
  },
];
