/**
 * Cost of tokens, by their kinds.
 * @module
 */
import type { DatedPricing, Pricing } from "../contracts/provider.ts";
import type { BilledUsage } from "../contracts/usage.ts";
import { hasPrice } from "./pricing.ts";

/** The usage of a call whose tokens are known. */
export interface CountedTokens extends BilledUsage {
  /** Input tokens. */
  readonly input: number;
  /** Output tokens. */
  readonly output: number;
  /** Whether searches and tool calls are billed in addition to tokens, as in a chat, rather than in place of them. */
  readonly hasFees?: true;
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
export function completeRow(
  quantities: CountedTokens,
  row: DatedPricing,
  rows: readonly DatedPricing[],
): { readonly row: DatedPricing; readonly unpriced?: string } {
  if (!quantities.hasFees) return { row };
  const lacking: [name: keyof Pricing, price: number][] = [];
  for (const [unit, name, text] of tokenPrices) {
    if (!quantities[unit] || row[name] !== undefined) continue;
    const highest = findHighestPrice(rows, name);
    const isKnown = highest === undefined && !name.startsWith("audio_");
    if (!isKnown) lacking.push([name, Math.max(highest ?? 0, row[text] ?? 0)]);
  }
  if (lacking.length === 0 || isFree(row)) return { row };
  return { row: { ...Object.fromEntries(lacking), ...row }, unpriced: `"${lacking[0]![0]}"` };
}

/** Returns millionths of USD; undefined when the model has no price for tokens that need one. */
export function priceTokens(quantities: CountedTokens, price: Pricing, hasUnits: boolean): number | undefined {
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

function priceInput(usage: CountedTokens, price: Pricing & { readonly input: number }): number {
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

function priceOutput(usage: CountedTokens, price: Pricing & { readonly output: number }): number {
  const { output } = price;
  const tokens = new Remainder(usage.output);
  const [audio, image] = [tokens.take(usage.audioOutput), tokens.take(usage.imageOutput)];
  const reasoning = tokens.take(usage.reasoning);
  return tokens.left * output + audio * (price.audio_output ?? output) + image * (price.image_output ?? output) +
    reasoning * (price.reasoning ?? output);
}

/** The dearest of a price in several rows; undefined if none has it. */
export function findHighestPrice(pricing: readonly Pricing[], name: keyof Pricing): number | undefined {
  const prices = pricing.flatMap((row) => row[name] ?? []);
  return prices.length === 0 ? undefined : Math.max(...prices);
}

/** Whether a model is free of charge. */
export function isFree(row: DatedPricing): boolean {
  const { from: _from, above_tokens: _above, ...prices } = row;
  const hasBothPrices = (prices.input === undefined) === (prices.output === undefined);
  return hasBothPrices && hasPrice(row) &&
    Object.values(prices).every((price) => typeof price !== "number" || price === 0);
}
