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
 * The price in force on a day for a prompt of a size: the last entry that applies.
 *
 * @param pricing Prices, oldest first.
 * @param now Wall clock, ms.
 * @param promptTokens Input tokens.
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
 * @param usage Whole counts, not negative.
 * @param pricing Oldest first; USD per million tokens.
 * @param now Wall clock, ms.
 * @returns A whole number of at most 2⁵³ − 1; undefined, never 0, when a price it
 * needs is unknown.
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
  const { prompt_tokens: read, completion_tokens: written, prompt_tokens_details: details } = usage;
  const price = priceAt(pricing, now, read);
  if (price?.input === undefined || price.output === undefined) return undefined;
  const cached = Math.min(details?.cached_tokens ?? 0, read);
  const cacheWrite = Math.min(details?.cache_write_tokens ?? 0, read - cached);
  const usd = (read - cached - cacheWrite) * price.input +
    cached * (price.cached_input ?? price.input) +
    cacheWrite * (price.cache_write ?? price.input) +
    written * price.output;
  const nanoUsd = Math.round(usd * nanoPerToken + (price.per_request ?? 0) * nanoPerUsd);
  return nanoUsd >= 0 ? Math.min(nanoUsd, Number.MAX_SAFE_INTEGER) : undefined; // a provider may return invalid prices
}

/**
 * Nano-dollars as plain decimal USD, without exponent.
 *
 * @example
 * ```ts ignore
 * formatUsd(1_500); // "0.0000015"
 * ```
 */
export function formatUsd(nanoUsd: number): string {
  const digits = String(Math.max(0, nanoUsd)).padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, "");
}
