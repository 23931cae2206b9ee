/**
 * Cost of a request. Amounts are integer nano-dollars (10⁻⁹ USD), so that sums are exact.
 * @module
 */
import type { DatedPricing, Pricing } from "../contracts/provider.ts";
import type { BilledUsage } from "../contracts/usage.ts";
import { isWithinHours, nanoPerUsd, toTier } from "./pricing.ts";
import { stripTrailing } from "./strip_trailing.ts";
import { completeRow, type CountedTokens, findHighestPrice, priceTokens } from "./token_cost.ts";
import { formatUtcDay } from "./windows.ts";

/** Factor from USD per million tokens to nano-dollars per token. */
const nanoPerToken = nanoPerUsd / 1_000_000;

/** Usage of a call in the units that vendors price. Units that do not apply are undefined. */
export interface Quantities extends CountedTokens {
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
  const stated = cost === undefined ? undefined : roundToNanoUsd(cost * nanoPerUsd);
  if (stated !== undefined) return { nanoUsd: stated };
  if (pricing === undefined) return undefined;
  const rows = listApplicable(pricing, { now, promptTokens: quantities.input });
  const row = findRow(rows, quantities);
  const prices = { pricing, rows: listLastRows(rows) };
  if (row !== undefined) return priceByRow(quantities, row, prices);
  const charges = prices.rows.map((row) => priceByRow(quantities, row, prices));
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
  return charges.reduce((most, charge) => (charge?.nanoUsd ?? -1) > (most?.nanoUsd ?? -1) ? charge : most, undefined);
}

/** Returns the cost of a call by one row. */
export function priceByRow(
  quantities: Quantities,
  row: DatedPricing,
  { pricing, rows }: {
    /** All rows of the model. */
    readonly pricing: readonly DatedPricing[];
    /** The row of each tier and region that applies at the time of the call. */
    readonly rows: readonly DatedPricing[];
  },
): Charge | undefined {
  const units = priceUnits(quantities, row, pricing);
  const hasUnits = units.usd !== undefined && !quantities.hasFees;
  const completed = completeRow(quantities, row, rows);
  const tokens = priceTokens(quantities, completed.row, hasUnits);
  if (tokens === undefined) return undefined;
  const { hasFees, factor = 1, region } = quantities;
  const regional = findRegionalFactor(row, region);
  const others = (units.usd ?? 0) * (hasFees ? 1 : factor) + (row.per_request ?? 0) * factor;
  const nanoUsd = roundToNanoUsd(tokens * regional * factor * nanoPerToken + others * nanoPerUsd);
  return nanoUsd === undefined ? undefined : { nanoUsd, unpriced: units.unpriced ?? completed.unpriced };
}

function findRegionalFactor({ multipliers }: DatedPricing, region: string | undefined): number {
  const factors = multipliers?.inference_geo;
  return region === undefined ? 1 : factors?.[region] ?? factors?.["*"] ?? 1;
}

/** Rounds an amount; undefined if it is invalid, since a provider may return invalid prices. */
function roundToNanoUsd(amount: number): number | undefined {
  const nanoUsd = Math.round(amount);
  return nanoUsd >= 0 ? Math.min(nanoUsd, Number.MAX_SAFE_INTEGER) : undefined;
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
