/**
 * Cost of a request. Amounts are integer nano-dollars (10⁻⁹ USD), so that sums are exact.
 * @module
 */
import type { DatedPricing, Pricing } from "../contracts/provider.ts";
import type { BilledUsage } from "../contracts/usage.ts";
import { hasPrice, isWithinHours, toTier } from "./pricing.ts";
import { stripTrailing } from "./strip_trailing.ts";
import { formatUtcDay } from "./windows.ts";

const nanoPerUsd = 1_000_000_000;
/** Factor from USD per million tokens to nano-dollars per token. */
const nanoPerToken = nanoPerUsd / 1_000_000;

/** Usage of a call in the units that vendors price. Units that do not apply are undefined. */
export interface Quantities extends BilledUsage {
  /** Input tokens. */
  readonly input: number;
  /** Output tokens. */
  readonly output: number;
  /** Whether searches and tool calls are billed in addition to tokens, as in a chat, rather than in place of them. */
  readonly hasFees?: true;
  /** Factor of all prices except fees, such as that of a batch. */
  readonly factor?: number;
}

/** The cost of a call. */
export interface Charge {
  /** Nano-dollars. */
  readonly nanoUsd: number;
  /** What no row has a price for, such as `the tier "scale"`: the dearest price was used, and the cost is an estimate. */
  readonly unpriced?: string | undefined;
}

/**
 * Returns the price of standard calls for a date and a prompt size: the last row that applies.
 *
 * @param pricing Rows in order.
 * @param now Wall-clock ms.
 * @param promptTokens Input tokens.
 */
export function priceAt(
  pricing: readonly DatedPricing[] | undefined,
  now: number,
  promptTokens: number,
): DatedPricing | undefined {
  return pricing && findRow(listApplicable(pricing, { now, promptTokens }), {});
}

/** The rows whose date, hours and prompt size apply. */
function listApplicable(
  pricing: readonly DatedPricing[],
  { now, promptTokens }: { readonly now: number; readonly promptTokens: number },
): readonly DatedPricing[] {
  const day = formatUtcDay(now);
  return pricing.filter(({ from, above_tokens, hours }) =>
    (from === undefined || from <= day) && (above_tokens === undefined || promptTokens > above_tokens) &&
    (hours === undefined || isWithinHours(hours, now))
  );
}

/** The last row of a tier, of the region if it has one. */
function findRow(
  rows: readonly DatedPricing[],
  { tier, region }: Pick<BilledUsage, "tier" | "region">,
): DatedPricing | undefined {
  const own = rows.filter((row) => toTier(row.tier) === toTier(tier));
  return own.findLast((row) => row.region !== undefined && row.region === region) ??
    own.findLast((row) => row.region === undefined);
}

/**
 * Returns the cost of a call. A price per image, page, minute, search or character replaces the price per token, except
 * for fees of a chat.
 *
 * @param quantities Usage; not negative.
 * @param pricing Prices of the model, in order.
 * @param now Wall-clock ms.
 * @returns At most 2⁵³ − 1; undefined (never 0) when a required price or quantity is unknown.
 *
 * @example
 * ```ts
 * priceUsage({ input: 1000, output: 0 }, [{ input: 3, output: 15 }], Date.now())?.nanoUsd; // 3_000_000
 * priceUsage({ input: 0, output: 0, images: 2 }, [{ per_image: 0.04 }], Date.now())?.nanoUsd; // 80_000_000
 * ```
 */
export function priceUsage(
  quantities: Quantities,
  pricing: readonly DatedPricing[] | undefined,
  now: number,
): Charge | undefined {
  const { cost } = quantities;
  const stated = cost === undefined ? undefined : toNanoUsd(cost * nanoPerUsd);
  if (stated !== undefined) return { nanoUsd: stated };
  if (pricing === undefined) return undefined;
  const rows = listApplicable(pricing, { now, promptTokens: quantities.input });
  const row = findRow(rows, quantities);
  const known = { pricing, rows: listLastRows(rows) };
  if (row !== undefined) return priceByRow(quantities, row, known);
  const charges = known.rows.map((one) => priceByRow(quantities, one, known));
  const highest = findHighest(charges);
  return highest && { ...highest, unpriced: formatConditions(quantities) };
}

function formatConditions({ tier, region }: Quantities): string {
  const kind = toTier(tier) === undefined ? "standard calls" : `the tier "${tier}"`;
  return region === undefined ? kind : `${kind} in the region "${region}"`;
}

/** Returns the cost in nano-dollars; undefined when it is unknown. See {@linkcode priceUsage}. */
export function costInNanoUsd(
  quantities: Quantities,
  pricing: readonly DatedPricing[] | undefined,
  now: number,
): number | undefined {
  return priceUsage(quantities, pricing, now)?.nanoUsd;
}

/** The last row of each tier and region. */
function listLastRows(rows: readonly DatedPricing[]): readonly DatedPricing[] {
  return rows.filter((row, index) =>
    !rows.some((later, position) =>
      position > index && toTier(later.tier) === toTier(row.tier) && later.region === row.region
    )
  );
}

/** The highest charge; undefined without any. */
export function findHighest(charges: readonly (Charge | undefined)[]): Charge | undefined {
  return charges.reduce((most, one) => (one?.nanoUsd ?? -1) > (most?.nanoUsd ?? -1) ? one : most, undefined);
}

/** The rows in which prices are found that the row of a call lacks. */
interface KnownRows {
  /** All rows of the model. */
  readonly pricing: readonly DatedPricing[];
  /** The row of each tier and region that applies at the time of the call. */
  readonly rows: readonly DatedPricing[];
}

/** Returns the cost of a call by one row. */
export function priceByRow(
  quantities: Quantities,
  row: DatedPricing,
  { pricing, rows }: KnownRows,
): Charge | undefined {
  const units = priceUnits(quantities, row, pricing);
  const hasUnits = units.usd !== undefined && !quantities.hasFees;
  const completed = completeRow(quantities, row, rows);
  const tokens = priceTokens(quantities, completed.row, hasUnits);
  if (tokens === undefined) return undefined;
  const { hasFees, factor = 1, region = "" } = quantities;
  const regional = row.multipliers?.inference_geo?.[region] ?? 1;
  const others = (units.usd ?? 0) * (hasFees ? 1 : factor) + (row.per_request ?? 0) * factor;
  const nanoUsd = toNanoUsd(tokens * regional * factor * nanoPerToken + others * nanoPerUsd);
  return nanoUsd === undefined ? undefined : { nanoUsd, unpriced: units.unpriced ?? completed.unpriced };
}

/** Kinds of tokens, their prices, and the price of text in the same direction. */
const tokenPrices = [
  ["audioInput", "audio_input", "input"],
  ["imageInput", "image_input", "input"],
  ["cacheWrite", "cache_write", "input"],
  ["cacheWrite1h", "cache_write_1h", "input"],
  ["cacheWrite12h", "cache_write_12h", "input"],
  ["audioOutput", "audio_output", "output"],
  ["imageOutput", "image_output", "output"],
  ["reasoning", "reasoning", "output"],
] as const;

/**
 * Adds prices of tokens that a row lacks: the dearest of other rows. Audio without a price in any row costs as much as
 * text, and is an estimate, since it is usually dearer.
 */
function completeRow(
  quantities: Quantities,
  row: DatedPricing,
  rows: readonly DatedPricing[],
): { readonly row: DatedPricing; readonly unpriced?: string } {
  if (!quantities.hasFees || isFree(row)) return { row };
  const lacking = tokenPrices.flatMap(([unit, name, text]) => {
    if (row[name] !== undefined || !quantities[unit]) return [];
    const highest = findHighestPrice(rows, name);
    const isKnown = highest === undefined && !name.startsWith("audio_");
    return isKnown ? [] : [[name, Math.max(highest ?? 0, row[text] ?? 0)] as const];
  });
  if (lacking.length === 0) return { row };
  return { row: { ...Object.fromEntries(lacking), ...row }, unpriced: `"${lacking[0]![0]}"` };
}

/** Rounds an amount; undefined if it is invalid, since a provider may return invalid prices. */
function toNanoUsd(amount: number): number | undefined {
  const nanoUsd = Math.round(amount);
  return nanoUsd >= 0 ? Math.min(nanoUsd, Number.MAX_SAFE_INTEGER) : undefined;
}

/** Returns millionths of USD; undefined when the model has no price for tokens that need one. */
function priceTokens(quantities: Quantities, price: Pricing, hasUnits: boolean): number | undefined {
  const { input: read, output: written } = quantities;
  const { input: inputPrice, output: outputPrice, audio_output, image_output } = price;
  const isPriced = hasUnits || (inputPrice ?? outputPrice ?? price.per_request) !== undefined;
  const lacksPrice = read > 0 && inputPrice === undefined ||
    written > 0 && (outputPrice ?? audio_output ?? image_output) === undefined;
  if (!isPriced || lacksPrice && !hasUnits) return undefined;
  return priceInput(quantities, { ...price, input: inputPrice ?? 0 }) +
    priceOutput(quantities, { ...price, output: outputPrice ?? 0 });
}

/** A count of tokens from which parts are taken. */
class Remainder {
  /** Tokens that are left. */
  left: number;

  constructor(tokens: number) {
    this.left = tokens;
  }

  /** Takes a part, of what is left at most. */
  take(part = 0): number {
    const taken = Math.min(part, this.left);
    this.left -= taken;
    return taken;
  }
}

function priceInput(usage: Quantities, price: Pricing & { readonly input: number }): number {
  const { input, cached_input: cachedPrice = input, cache_write: writePrice = input } = price;
  const { cache_write_1h: hourPrice = writePrice, cache_write_12h: dayPrice = hourPrice } = price;
  const tokens = new Remainder(usage.input);
  const cached = new Remainder(tokens.take(usage.cached));
  const cacheWrite = new Remainder(tokens.take(usage.cacheWrite));
  const [cachedAudio, cachedImage] = [cached.take(usage.cachedAudio), cached.take(usage.cachedImage)];
  const [hour, day] = [cacheWrite.take(usage.cacheWrite1h), cacheWrite.take(usage.cacheWrite12h)];
  const audio = tokens.take(Math.max(0, (usage.audioInput ?? 0) - cachedAudio));
  const image = tokens.take(Math.max(0, (usage.imageInput ?? 0) - cachedImage));
  return tokens.left * input + cached.left * cachedPrice +
    cachedAudio * (price.cached_audio_input ?? cachedPrice) + cachedImage * (price.cached_image_input ?? cachedPrice) +
    cacheWrite.left * writePrice + hour * hourPrice + day * dayPrice +
    audio * (price.audio_input ?? input) + image * (price.image_input ?? input);
}

function priceOutput(usage: Quantities, price: Pricing & { readonly output: number }): number {
  const { output } = price;
  const tokens = new Remainder(usage.output);
  const [audio, image] = [tokens.take(usage.audioOutput), tokens.take(usage.imageOutput)];
  const reasoning = tokens.take(usage.reasoning);
  return tokens.left * output + audio * (price.audio_output ?? output) + image * (price.image_output ?? output) +
    reasoning * (price.reasoning ?? output);
}

/** Units other than tokens, and how many of them a price is for. */
const unitPrices = [
  ["images", "per_image", 1],
  ["searches", "per_search", 1],
  ["pages", "per_page", 1],
  ["seconds", "per_minute", 60],
  ["characters", "per_character", 1],
  ["characters", "per_million_characters", 1_000_000],
  ["toolCalls", "per_tool_call", 1],
] as const;

/**
 * Returns the cost of units other than tokens, USD; undefined when no such price applies. A fee that the row lacks costs
 * as much as in the dearest row.
 */
function priceUnits(
  quantities: Quantities,
  row: Pricing,
  pricing: readonly Pricing[],
): { readonly usd: number | undefined; readonly unpriced: string | undefined } {
  let usd: number | undefined;
  let unpriced: string | undefined;
  for (const [unit, name, per] of unitPrices) {
    const quantity = quantities[unit];
    if (
      quantity === undefined || unit === "characters" && name !== "per_character" && row.per_character !== undefined
    ) {
      continue;
    }
    const isFee = quantities.hasFees === true && quantity > 0;
    const price = row[name] ?? (isFee ? findHighestPrice(pricing, name) : undefined);
    if (isFee && row[name] === undefined) unpriced = `"${name}"`;
    if (price !== undefined) usd = (usd ?? 0) + quantity * price / per;
  }
  return { usd, unpriced };
}

function findHighestPrice(pricing: readonly Pricing[], name: keyof Pricing): number | undefined {
  const prices = pricing.flatMap((row) => row[name] ?? []);
  return prices.length === 0 ? undefined : Math.max(...prices);
}

/** Whether a model is free of charge. */
export function isFree(row: DatedPricing): boolean {
  const { from: _from, above_tokens: _above, ...prices } = row;
  const isWhole = (prices.input === undefined) === (prices.output === undefined);
  return isWhole && hasPrice(row) && Object.values(prices).every((price) => typeof price !== "number" || price === 0);
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
