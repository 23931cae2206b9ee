/**
 * What a request cost. Money is counted in whole nano-dollars (10⁻⁹ USD), so that sums stay exact.
 * @module
 */
import type { CompletionUsage } from "../contracts/openai.ts";
import type { DatedPricing } from "../contracts/provider.ts";

const nanoPerUsd = 1_000_000_000;
const dayMs = 24 * 60 * 60 * 1000;
/** USD per million tokens are nano-dollars per token times this. */
const nanoPerToken = nanoPerUsd / 1_000_000;

/**
 * The price that holds on a day for a prompt of a size: the last one that applies.
 *
 * @param pricing Prices, oldest first.
 * @param now Wall clock, ms.
 * @param promptTokens Tokens read.
 */
export function priceAt(
  pricing: readonly DatedPricing[] | undefined,
  now: number,
  promptTokens: number,
): DatedPricing | undefined {
  if (pricing === undefined) return undefined;
  const day = dayOf(now);
  return pricing.findLast(({ from, above_tokens }) =>
    (from === undefined || from <= day) && (above_tokens === undefined || promptTokens > above_tokens)
  );
}

let latest = { number: NaN, text: "" };

/** The UTC day of a time, such as `2026-01-31`; asked for with every price. */
function dayOf(now: number): string {
  const number = Math.floor(now / dayMs);
  if (number !== latest.number) latest = { number, text: new Date(number * dayMs).toISOString().slice(0, 10) };
  return latest.text;
}

/**
 * The cost of a chat request, nano-dollars.
 *
 * @param usage Token counts; numbers that make no sense count as 0.
 * @param pricing The model's prices, oldest first; USD per million tokens.
 * @param now Wall clock, ms.
 * @returns Undefined when a price it needs is unknown: never 0 for that.
 *
 * @example
 * ```ts ignore
 * costNanoUsd({ prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 }, [{ input: 3, output: 15 }], now); // 3_000_000
 * ```
 */
export function costNanoUsd(
  usage: CompletionUsage,
  pricing: readonly DatedPricing[] | undefined,
  now: number,
): number | undefined {
  const read = count(usage.prompt_tokens);
  const price = priceAt(pricing, now, read);
  if (price?.input === undefined || price.output === undefined) return undefined;
  const cached = Math.min(count(usage.prompt_tokens_details?.cached_tokens), read);
  const cacheWrite = Math.min(count(usage.prompt_tokens_details?.cache_write_tokens), read - cached);
  const usd = (read - cached - cacheWrite) * price.input +
    cached * (price.cached_input ?? price.input) +
    cacheWrite * (price.cache_write ?? price.input) +
    count(usage.completion_tokens) * price.output;
  return Math.round(usd * nanoPerToken + (price.per_request ?? 0) * nanoPerUsd);
}

/**
 * Nano-dollars as plain decimal USD, without exponent.
 *
 * @param nano Nano-dollars.
 *
 * @example
 * ```ts ignore
 * formatUsd(1_500); // "0.0000015"
 * ```
 */
export function formatUsd(nano: number): string {
  const digits = String(Math.max(0, nano)).padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, "");
}

function count(tokens: unknown): number {
  return typeof tokens === "number" && Number.isFinite(tokens) && tokens > 0 ? Math.floor(tokens) : 0;
}
