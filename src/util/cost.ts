/**
 * Cost of a request. Amounts are integer nano-dollars (10⁻⁹ USD), so that sums are exact.
 * @module
 */
import type { DatedPricing, Pricing } from "../contracts/provider.ts";
import { stripTrailing } from "./strip_trailing.ts";
import { formatUtcDay } from "./windows.ts";

const nanoPerUsd = 1_000_000_000;
/** Factor from USD per million tokens to nano-dollars per token. */
const nanoPerToken = nanoPerUsd / 1_000_000;

/**
 * Returns the price for a date and a prompt size: the last entry that applies.
 *
 * @param pricing Prices, oldest first.
 * @param now Wall-clock ms.
 * @param promptTokens Input tokens.
 */
export function priceAt(
  pricing: readonly DatedPricing[] | undefined,
  now: number,
  promptTokens: number,
): DatedPricing | undefined {
  if (pricing === undefined) return undefined;
  const day = formatUtcDay(now);
  return pricing.findLast(({ from, above_tokens }) =>
    (from === undefined || from <= day) && (above_tokens === undefined || promptTokens > above_tokens)
  );
}

/** Usage of a call in the units that vendors price. Units that do not apply are undefined. */
export interface Quantities {
  /** Input tokens. */
  readonly input: number;
  /** Output tokens. */
  readonly output: number;
  /** Input tokens read from a cache. */
  readonly cached?: number | undefined;
  /** Input tokens written to a cache. */
  readonly cacheWrite?: number | undefined;
  /** Audio input tokens. */
  readonly audioInput?: number | undefined;
  /** Audio output tokens. */
  readonly audioOutput?: number | undefined;
  readonly images?: number | undefined;
  readonly searches?: number | undefined;
  /** Audio duration, seconds. */
  readonly seconds?: number | undefined;
  /** Text to speak, characters. */
  readonly characters?: number | undefined;
}

/**
 * Returns the cost of a call, nano-dollars. A price per image, minute, search or character replaces the price per
 * token.
 *
 * @param quantities Usage; not negative.
 * @param pricing Prices of the model, oldest first.
 * @param now Wall-clock ms.
 * @returns An integer, at most 2⁵³ − 1; undefined (never 0) when a required price or quantity is unknown.
 *
 * @example
 * ```ts
 * costInNanoUsd({ input: 1000, output: 0 }, [{ input: 3, output: 15 }], Date.now()); // 3_000_000
 * costInNanoUsd({ input: 0, output: 0, images: 2 }, [{ per_image: 0.04 }], Date.now()); // 80_000_000
 * ```
 */
export function costInNanoUsd(
  quantities: Quantities,
  pricing: readonly DatedPricing[] | undefined,
  now: number,
): number | undefined {
  const price = priceAt(pricing, now, quantities.input);
  if (price === undefined) return undefined;
  const units = unitCostUsd(quantities, price);
  const tokens = tokenCost(quantities, price, units !== undefined);
  if (tokens === undefined) return undefined;
  const nanoUsd = Math.round(tokens * nanoPerToken + ((units ?? 0) + (price.per_request ?? 0)) * nanoPerUsd);
  return nanoUsd >= 0 ? Math.min(nanoUsd, Number.MAX_SAFE_INTEGER) : undefined; // a provider may return invalid prices
}

/** Returns millionths of USD; undefined when the model has no price for tokens that need one. */
function tokenCost(quantities: Quantities, price: Pricing, hasUnits: boolean): number | undefined {
  const { input: read, output: written, cached: fromCache = 0, cacheWrite: intoCache = 0 } = quantities;
  const { input: inputPrice, output: outputPrice } = price;
  const isPriced = hasUnits || (inputPrice ?? outputPrice ?? price.per_request) !== undefined;
  const lacksPrice = read > 0 && inputPrice === undefined ||
    written > 0 && (outputPrice ?? price.audio_output) === undefined;
  if (!isPriced || lacksPrice && !hasUnits) return undefined;
  const cached = Math.min(fromCache, read);
  const cacheWrite = Math.min(intoCache, read - cached);
  const audioInputTokens = Math.min(quantities.audioInput ?? 0, read - cached - cacheWrite);
  const audioOutputTokens = Math.min(quantities.audioOutput ?? 0, written);
  const perInput = inputPrice ?? 0;
  const perOutput = outputPrice ?? 0;
  return (read - cached - cacheWrite - audioInputTokens) * perInput +
    cached * (price.cached_input ?? perInput) +
    cacheWrite * (price.cache_write ?? perInput) +
    audioInputTokens * (price.audio_input ?? perInput) +
    (written - audioOutputTokens) * perOutput +
    audioOutputTokens * (price.audio_output ?? perOutput);
}

/** Returns the cost of units other than tokens, USD; undefined when no such price applies. */
function unitCostUsd({ images, searches, seconds, characters }: Quantities, price: Pricing): number | undefined {
  let sum: number | undefined;
  const add = (quantity: number | undefined, per: number | undefined, units: number) => {
    if (quantity !== undefined && per !== undefined) sum = (sum ?? 0) + quantity * per / units;
  };
  add(images, price.per_image, 1);
  add(searches, price.per_search, 1);
  add(seconds, price.per_minute, 60);
  add(characters, price.per_million_characters, 1_000_000);
  return sum;
}

/** Whether a model is free of charge. */
export function isFree({ from: _from, above_tokens: _above, ...prices }: DatedPricing): boolean {
  const known = Object.values(prices).filter((price) => price !== undefined);
  const isWhole = (prices.input === undefined) === (prices.output === undefined);
  return isWhole && known.length > 0 && known.every((price) => price === 0);
}

/**
 * Formats nano-dollars as decimal USD without exponent.
 *
 * @example
 * ```ts
 * formatUsd(1_500); // "0.0000015"
 * ```
 */
export function formatUsd(nanoUsd: number): string {
  const digits = String(Math.max(0, nanoUsd)).padStart(10, "0");
  const fraction = stripTrailing(digits.slice(-9), "0");
  return fraction === "" ? digits.slice(0, -9) : `${digits.slice(0, -9)}.${fraction}`;
}
