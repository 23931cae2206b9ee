/**
 * What a request cost. Money is counted in whole nano-dollars (10⁻⁹ USD), so that sums stay exact.
 * @module
 */
import type { DatedPricing, Pricing } from "../contracts/provider.ts";
import { dayOf } from "./windows.ts";

const nanoPerUsd = 1_000_000_000;
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

/** What a call takes, in the units that vendors price; a unit that has no meaning for the call is left out. */
export interface Quantities {
  /** Tokens read. */
  readonly input: number;
  /** Tokens written. */
  readonly output: number;
  /** Of those read: from a cache. */
  readonly cached?: number | undefined;
  /** Of those read: written into a cache. */
  readonly cacheWrite?: number | undefined;
  /** Of those read: sound. */
  readonly audioInput?: number | undefined;
  /** Of those written: sound. */
  readonly audioOutput?: number | undefined;
  readonly images?: number | undefined;
  readonly searches?: number | undefined;
  /** Sound, seconds. */
  readonly seconds?: number | undefined;
  /** Text to be spoken, characters. */
  readonly characters?: number | undefined;
}

/**
 * The cost of a call, nano-dollars. What a model has a price for is what its vendor counts: a price per image, minute,
 * search or character stands in place of a price per token.
 *
 * @param quantities What it takes, not negative.
 * @param pricing The model's prices, oldest first.
 * @param now Wall clock, ms.
 * @returns A whole number, exact up to 2⁵³ − 1 and no more than that; undefined when a price or a quantity it needs is
 *   unknown: never 0 for that.
 *
 * @example
 * ```ts ignore
 * costNanoUsd({ input: 1000, output: 0 }, [{ input: 3, output: 15 }], now); // 3_000_000
 * costNanoUsd({ input: 0, output: 0, images: 2 }, [{ per_image: 0.04 }], now); // 80_000_000
 * ```
 */
export function costNanoUsd(
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

/** USD per million of these; undefined when tokens need a price that the model does not have. */
function tokenCost(quantities: Quantities, price: Pricing, hasUnits: boolean): number | undefined {
  const { input: read, output: written, cached: fromCache = 0, cacheWrite: intoCache = 0 } = quantities;
  const { input: inputPrice, output: outputPrice } = price;
  const isPriced = hasUnits || (inputPrice ?? outputPrice ?? price.per_request) !== undefined;
  const lacksPrice = read > 0 && inputPrice === undefined ||
    written > 0 && (outputPrice ?? price.audio_output) === undefined;
  if (!isPriced || lacksPrice && !hasUnits) return undefined;
  const cached = Math.min(fromCache, read);
  const cacheWrite = Math.min(intoCache, read - cached);
  const heard = Math.min(quantities.audioInput ?? 0, read - cached - cacheWrite);
  const spoken = Math.min(quantities.audioOutput ?? 0, written);
  const perInput = inputPrice ?? 0;
  const perOutput = outputPrice ?? 0;
  return (read - cached - cacheWrite - heard) * perInput +
    cached * (price.cached_input ?? perInput) +
    cacheWrite * (price.cache_write ?? perInput) +
    heard * (price.audio_input ?? perInput) +
    (written - spoken) * perOutput +
    spoken * (price.audio_output ?? perOutput);
}

/** USD of what is not counted in tokens; undefined where no such price applies to the call. */
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

/** Whether a price is nothing, whatever a call takes. */
export function isFree({ from: _from, above_tokens: _above, ...prices }: DatedPricing): boolean {
  const known = Object.values(prices).filter((price) => price !== undefined);
  const isWhole = (prices.input === undefined) === (prices.output === undefined);
  return isWhole && known.length > 0 && known.every((price) => price === 0);
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
