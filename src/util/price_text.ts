/**
 * Formats prices and amounts for people.
 * @module
 */
import type { Pricing } from "../contracts/provider.ts";

/** Prices other than those of tokens in general, in output order. */
export const otherPrices: readonly (readonly [keyof Pricing, string])[] = [
  ["cached_audio_input", "cached audio"],
  ["cached_image_input", "cached images"],
  ["cache_write", "cache write"],
  ["cache_write_1h", "cache write 1h"],
  ["cache_write_12h", "cache write 12h"],
  ["audio_input", "audio in"],
  ["audio_output", "audio out"],
  ["image_input", "images in"],
  ["image_output", "images out"],
  ["reasoning", "reasoning"],
  ["per_character", "per character"],
  ["per_million_characters", "per 1M characters"],
  ["per_minute", "per minute"],
  ["per_page", "per page"],
  ["per_image", "per image"],
  ["per_search", "per search"],
  ["per_tool_call", "per tool call"],
  ["per_request", "per request"],
];

/** The prices that decide what a call costs; the others are shown where a model has none of these. */
const mainPrices: typeof otherPrices = [
  ["input", "in"],
  ["output", "out"],
  ...otherPrices.filter(([name]) => name.startsWith("per_") && !["per_search", "per_tool_call"].includes(name)),
];

/** What stands in for a price of output tokens. */
const outputPrices = otherPrices.filter(([name]) => name === "audio_output" || name === "image_output");

/** Formats USD: cents for amounts of at least one dollar, else three significant digits. */
export function formatUsd(amount: number): string {
  if (amount === 0) return "$0";
  return `$${amount >= 1 ? amount.toFixed(2) : formatCents(Number(amount.toPrecision(3)))}`;
}

function formatCents(amount: number): string {
  return amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 9, useGrouping: false });
}

/**
 * Describes what calls of a model cost, such as `$0.75 in, $4.50 out`.
 *
 * @param price Its current prices, those of tokens in USD per million; undefined if unknown.
 */
export function describePrice(price: Pricing | undefined): string {
  if (price === undefined) return "price unknown";
  const list = (names: typeof otherPrices) =>
    names.flatMap(([name, unit]) => (price[name] ?? 0) > 0 ? `${formatUsd(price[name]!)} ${unit}` : []);
  const main = list(price.output === undefined ? [...mainPrices, ...outputPrices] : mainPrices);
  const shown = main.length === 0 ? list(otherPrices) : main;
  return shown.length === 0 ? "free" : shown.join(", ");
}
