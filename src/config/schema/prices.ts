/**
 * Rows of prices: their keys, and the order in which they stand.
 * @module
 */
import type { DatedPricing } from "../../contracts/provider.ts";
import {
  compareConditions,
  firstMonday,
  hasPrice,
  isWithinHours,
  parseHours,
  priceTiers,
  toTier,
} from "../../util/pricing.ts";
import { dayMs } from "../../util/windows.ts";

/** A row of prices. */
export const priceRow = {
  type: "object",
  isVerbatim: true,
  fields: {
    /** First day on which the row applies, as an ISO date (UTC). */
    from: { type: "text", isLiteral: true, format: "day" },
    /** The row applies to prompts with more tokens than this. */
    above_tokens: { type: "integer", min: 1 },
    /**
     * Service tier to which the row applies, as responses name it. A row without a tier applies to standard responses. `fast`
     * is that of requests with `speed: fast`, `batch` the price of batches in place of `batch.cost_discount`.
     */
    tier: { type: "choice", values: priceTiers as typeof priceTiers },
    /**
     * Hours in which the row applies, UTC. They may extend past midnight, and follow the days of the week on which they
     * begin: `mon-fri 01:00-04:00`.
     */
    hours: { type: "text", isLiteral: true, format: "hours" },
    /** Region to which the row applies, as responses name it. Other regions have the rows without a region. */
    region: { type: "text", isLiteral: true },
    /** Factors of the prices per token. */
    multipliers: {
      type: "object",
      fields: {
        /**
         * Factors by the region in which the vendor processed the request, such as `us: 1.1`. `*` is any other region
         * that is named.
         */
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

/** Finds rows without prices, and rows that are not in order or that apply to the same calls as an earlier row. */
export function findRowProblems(rows: readonly DatedPricing[]): readonly {
  readonly index: number;
  /** A predicate of the row. */
  readonly message: string;
}[] {
  return rows.flatMap((row, index) => {
    const message = hasPrice(row) ? findOrderProblem(row, rows.slice(0, index)) : "has no price";
    return message === undefined ? [] : [{ index, message }];
  });
}

function findOrderProblem(row: DatedPricing, earlier: readonly DatedPricing[]): string | undefined {
  for (const [index, before] of earlier.entries()) {
    if (toTier(before.tier) !== toTier(row.tier) || before.region !== row.region) continue;
    const order = compareConditions(row, before);
    const where = `the row at index ${index}`;
    if (order < 0) return `applies before ${where}: rows are in order of "from", then of "above_tokens"`;
    if (order > 0) continue;
    if (row.hours === undefined && before.hours !== undefined) {
      return `replaces ${where} at all hours: a row without "hours" precedes those with them`;
    }
    if (row.hours === undefined || before.hours !== undefined && isOverlapping(row.hours, before.hours)) {
      return `applies to the same calls as ${where}`;
    }
  }
}

/** Whether two ranges of hours have a minute in common. */
function isOverlapping(first: string, second: string): boolean {
  const isStartWithin = (hours: string, within: string) => {
    const { start, on } = parseHours(hours);
    return on.some((day) => isWithinHours(within, firstMonday + day * dayMs + start * 60_000));
  };
  return isStartWithin(first, second) || isStartWithin(second, first);
}
