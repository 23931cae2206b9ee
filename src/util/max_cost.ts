/**
 * The maximum cost of calls whose responses are not known yet, which budgets reserve.
 * @module
 */
import type { DatedPricing } from "../contracts/provider.ts";
import { findHighest, priceByRow, type Quantities } from "./cost.ts";
import { toTier } from "./pricing.ts";
import { dayMs, formatUtcDay } from "./windows.ts";

/**
 * Returns the maximum cost of a call whose response is not known yet: by the dearest row that may apply within a day, at
 * the dearest price of each direction.
 *
 * @param quantities Estimated usage, and the requested tier. A request without a tier, or for `auto`, may be served by
 * any tier that need not be requested.
 * @param pricing Prices of the model, in order.
 * @param now Wall-clock ms.
 * @returns Undefined when no price is known.
 *
 * @example
 * ```ts
 * const pricing = [{ input: 2, output: 12 }, { tier: "priority" as const, input: 4, output: 24 }];
 * maxCostInNanoUsd({ input: 1000, output: 100 }, pricing, Date.now()); // 6_400_000
 * ```
 */
export function maxCostInNanoUsd(
  quantities: Quantities,
  pricing: readonly DatedPricing[] | undefined,
  now: number,
): number | undefined {
  if (pricing === undefined) return undefined;
  const rows = [...new Set([now, now + dayMs].flatMap((time) => listPossible(pricing, quantities, time)))];
  const charges = rows.map((row) => priceByRow(quantities, toHighestPrices(row, quantities), { pricing, rows }));
  return findHighest(charges)?.nanoUsd;
}

/** Tiers that serve only calls that request them. */
const onRequest: ReadonlySet<string | undefined> = new Set(["batch", "fast", "ultrafast"]);

/** The rows that may apply on a day, of all regions and hours; all tiers if the requested one is unknown. */
function listPossible(
  pricing: readonly DatedPricing[],
  { input, tier }: Quantities,
  now: number,
): readonly DatedPricing[] {
  const day = formatUtcDay(now);
  const requested = toTier(tier);
  const isAny = requested === undefined && tier === undefined || requested === "auto";
  const isKnown = pricing.some((row) => toTier(row.tier) === requested);
  const rows = pricing.filter(({ from = day, above_tokens = -1 }) => from <= day && input > above_tokens);
  const current = rows.filter((row, index) => !rows.slice(index + 1).some((later) => isReplacing(later, row)));
  return current.filter((row) => {
    const own = toTier(row.tier);
    if (isAny) return !onRequest.has(own);
    return own === requested || own === undefined && requested !== "batch" || !isKnown;
  });
}

/** Whether a later row applies whenever an earlier one does, however large the prompt is. */
function isReplacing(later: DatedPricing, row: DatedPricing): boolean {
  return toTier(later.tier) === toTier(row.tier) && later.region === row.region &&
    later.hours === undefined && later.above_tokens === undefined;
}

/** The row with one price per direction: that of its dearest kind of tokens that the call may have. */
function toHighestPrices({ multipliers, ...row }: DatedPricing, quantities: Quantities): DatedPricing {
  const { audioInput, imageInput, cacheWrite1h, cacheWrite12h, audioOutput, imageOutput } = quantities;
  const factor = Math.max(1, ...Object.values(multipliers?.inference_geo ?? {}));
  const input = findMax([
    row.input,
    row.cache_write,
    ...cacheWrite1h ? [row.cache_write_1h] : [],
    ...cacheWrite12h ? [row.cache_write_12h ?? row.cache_write_1h] : [],
    ...audioInput ? [row.audio_input] : [],
    ...imageInput ? [row.image_input] : [],
  ], factor);
  const output = findMax([
    row.output,
    row.reasoning,
    ...audioOutput ? [row.audio_output] : [],
    ...imageOutput ? [row.image_output] : [],
  ], factor);
  const fees = Object.entries(row).filter(([name]) => name.startsWith("per_"));
  return {
    ...Object.fromEntries(fees),
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
  };
}

function findMax(prices: readonly (number | undefined)[], factor: number): number | undefined {
  const knownPrices = prices.filter((price) => price !== undefined);
  return knownPrices.length === 0 ? undefined : Math.max(...knownPrices) * factor;
}

/** Whether a call may have a fee for which no row has a price, or fees without a limit. */
export function hasUnpricedFee(
  { hasFees, searches = 0, toolCalls = 0 }: Pick<Quantities, "hasFees" | "searches" | "toolCalls">,
  pricing: readonly DatedPricing[] = [],
): boolean {
  if (!hasFees || searches + toolCalls === 0) return false;
  if (searches + toolCalls === Infinity) return true;
  const isPriced = (name: "per_search" | "per_tool_call") => pricing.some((row) => row[name] !== undefined);
  return searches > 0 && !isPriced("per_search") || toolCalls > 0 && !isPriced("per_tool_call");
}
