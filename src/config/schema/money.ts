/**
 * Converts money from USD to integer nano-dollars.
 * @module
 */
import type { BudgetValues } from "./providers.ts";
import type { BudgetSettings } from "../settings/settings.ts";

const nanoPerUsd = 1_000_000_000;

/** USD in nano-dollars (10⁻⁹ USD), rounded. Capped at nine million USD, up to which sums are exact. */
export function toNanoUsd(usd: number): number {
  return Math.min(Math.round(usd * nanoPerUsd), Number.MAX_SAFE_INTEGER);
}

/**
 * Merges budgets limit by limit; undefined without any limit.
 *
 * @param layers Layers, highest precedence first.
 */
export function mergeBudgets(layers: readonly (BudgetValues | undefined)[]): BudgetSettings | undefined {
  const daily = layers.find((layer) => layer?.daily_limit !== undefined)?.daily_limit;
  const monthly = layers.find((layer) => layer?.monthly_limit !== undefined)?.monthly_limit;
  if (daily === undefined && monthly === undefined) return undefined;
  const alertAt = layers.find((layer) => layer?.alert_at !== undefined)?.alert_at;
  return Object.freeze({
    ...(daily === undefined ? {} : { dailyNanoUsd: toNanoUsd(daily) }),
    ...(monthly === undefined ? {} : { monthlyNanoUsd: toNanoUsd(monthly) }),
    ...(alertAt === undefined ? {} : { alertAt: [...new Set(alertAt)].toSorted((one, other) => one - other) }),
  });
}

/** A row of prices. */
export const priceRow = {
  type: "object",
  fields: {
    /** First day on which the row applies, as an ISO date (UTC). */
    from: { type: "text", isLiteral: true, format: "day" },
    /** The row applies to prompts with more tokens than this. */
    above_tokens: { type: "integer", min: 1 },
    /**
     * Service tier to which the row applies, as answers name it. A row without a tier applies to standard answers. `fast`
     * is that of requests with `speed: fast`, `batch` the price of batches in place of `batch.cost_discount`.
     */
    tier: {
      type: "choice",
      values: [
        "default",
        "standard",
        "batch",
        "fast",
        "flex",
        "performance",
        "priority",
        "reserved",
        "scale",
        "ultrafast",
      ],
    },
    /** Hours in which the row applies, UTC. They may extend past midnight. */
    hours: { type: "text", isLiteral: true, format: "hours" },
    /** Region to which the row applies, as answers name it. Other regions have the rows without a region. */
    region: { type: "text", isLiteral: true },
    /** Factors of the prices per token. */
    multipliers: {
      type: "object",
      fields: {
        /** Factors by the region in which the vendor processed the request, such as `us: 1.1`. */
        inference_geo: { type: "record", item: { type: "number", min: 0 } },
      },
    },
    /** USD per million input tokens. */
    input: { type: "number", min: 0 },
    /** USD per million output tokens. */
    output: { type: "number", min: 0 },
    /** USD per million input tokens read from the vendor's prompt cache. */
    cached_input: { type: "number", min: 0 },
    /** USD per million audio input tokens read from the vendor's prompt cache. Defaults to `cached_input`. */
    cached_audio_input: { type: "number", min: 0 },
    /** USD per million image input tokens read from the vendor's prompt cache. Defaults to `cached_input`. */
    cached_image_input: { type: "number", min: 0 },
    /** USD per million input tokens written to the vendor's prompt cache for its default duration. */
    cache_write: { type: "number", min: 0 },
    /** USD per million input tokens written to the vendor's prompt cache for one hour. Defaults to `cache_write`. */
    cache_write_1h: { type: "number", min: 0 },
    /** USD per million input tokens written to the vendor's prompt cache for over 12 hours. Defaults to `cache_write_1h`. */
    cache_write_12h: { type: "number", min: 0 },
    /** USD per million audio input tokens. */
    audio_input: { type: "number", min: 0 },
    /** USD per million audio output tokens. */
    audio_output: { type: "number", min: 0 },
    /** USD per million image input tokens. Defaults to `input`. */
    image_input: { type: "number", min: 0 },
    /** USD per million image output tokens. Defaults to `output`. */
    image_output: { type: "number", min: 0 },
    /** USD per million reasoning tokens. Defaults to `output`. */
    reasoning: { type: "number", min: 0 },
    /** USD per request. */
    per_request: { type: "number", min: 0 },
    /** USD per image. */
    per_image: { type: "number", min: 0 },
    /** USD per search; of a chat model, per search that the vendor runs, in addition to tokens. */
    per_search: { type: "number", min: 0 },
    /** USD per page of a document. */
    per_page: { type: "number", min: 0 },
    /** USD per minute of audio. */
    per_minute: { type: "number", min: 0 },
    /** USD per character of text. */
    per_character: { type: "number", min: 0 },
    /** USD per million characters of text, in place of `per_character`. */
    per_million_characters: { type: "number", min: 0 },
    /** USD per call of another tool that the vendor runs. */
    per_tool_call: { type: "number", min: 0 },
  },
} as const;
