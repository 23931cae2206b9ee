/**
 * Rows of price lists: their conditions, and the form of untrusted ones.
 * @module
 */
import type { DatedPricing, PriceConditions, PriceTier, Pricing } from "../contracts/provider.ts";
import { isObject } from "./is_object.ts";
import { dayMs } from "./windows.ts";

/** Amounts are integer nano-dollars, so that sums are exact. */
export const nanoPerUsd = 1_000_000_000;

/** The service tiers of price rows: each that has a type, and no other. */
export const priceTiers: readonly PriceTier[] = Object.keys(
  {
    default: 1,
    standard: 1,
    batch: 1,
    fast: 1,
    flex: 1,
    performance: 1,
    priority: 1,
    reserved: 1,
    scale: 1,
    ultrafast: 1,
  } satisfies Record<PriceTier, 1>,
) as PriceTier[];

const priceConditions = ["from", "above_tokens", "tier", "hours", "region"] as const;

const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const hourForm = /^(?:([a-z]{3})(?:-([a-z]{3}))? )?([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;

/** Whether a text is a range of UTC hours, such as `16:30-00:30` or `mon-fri 01:00-04:00`. */
export function isHours(text: string): boolean {
  const [form, from = "mon", to = from] = hourForm.exec(text) ?? [];
  const { start, end } = parseHours(text);
  return form !== undefined && days.includes(from) && days.includes(to) && start !== end;
}

/**
 * Parses a range of UTC hours.
 *
 * @returns Minutes of the day: the start and the end, which is exclusive; an end at or before the start is on the next
 * day. The days of the week on which it starts, from 0 for Monday.
 */
export function parseHours(
  text: string,
): { readonly start: number; readonly end: number; readonly on: readonly number[] } {
  const [, from, to = from, hour = 0, minute = 0, endHour = 24, endMinute = 0] = hourForm.exec(text) ?? [];
  const [first, last] = from === undefined ? [0, 6] : [days.indexOf(from), days.indexOf(to!)];
  const count = (last - first + days.length) % days.length + 1;
  const on = Array.from({ length: count }, (_, index) => (first + index) % days.length);
  return { start: Number(hour) * 60 + Number(minute), end: Number(endHour) * 60 + Number(endMinute), on };
}

/** The Monday after the Unix epoch, ms. */
export const firstMonday: number = 4 * dayMs;

/**
 * Whether a time is within a range of hours.
 *
 * @param hours Such as `16:30-00:30`, UTC.
 * @param now Wall-clock ms.
 */
export function isWithinHours(hours: string, now: number): boolean {
  const { start, end, on } = parseHours(hours);
  const minute = Math.floor(now / 60_000) % 1440;
  const day = Math.floor((now + dayMs * days.length - firstMonday) / dayMs) % days.length;
  const isToday = minute >= start && (start >= end || minute < end) && on.includes(day);
  return isToday || start >= end && minute < end && on.includes((day + days.length - 1) % days.length);
}

/** The tier of a row or a call, by one name: undefined for a call without a special tier. */
export function toTier(tier: string | undefined): string | undefined {
  return tier === "default" || tier === "standard" ? undefined : tier;
}

/** Whether a row has a price, besides its conditions. */
export function hasPrice(row: DatedPricing): boolean {
  return Object.entries(row).some(([name, price]) => typeof price === "number" && name !== "above_tokens");
}

/** Compares rows of one tier and region. */
export function compareConditions(first: PriceConditions, second: PriceConditions): number {
  const [from, otherFrom] = [first.from ?? "", second.from ?? ""];
  if (from !== otherFrom) return from < otherFrom ? -1 : 1;
  return (first.above_tokens ?? 0) - (second.above_tokens ?? 0);
}

/**
 * Returns the prices of a configured model.
 *
 * @param catalogued Rows of the catalogue, or of the provider's response.
 * @param configured Rows with conditions replace the known ones. An object without overrides them key by key; the prices
 * of a tier keep their ratio to those of standard calls.
 */
export function mergePricing(
  catalogued: readonly DatedPricing[] | undefined,
  configured: DatedPricing | readonly DatedPricing[] | undefined,
): readonly DatedPricing[] | undefined {
  if (configured === undefined) return catalogued;
  if (isRows(configured)) return configured;
  if (priceConditions.some((name) => configured[name] !== undefined)) return [configured];
  if (catalogued === undefined || catalogued.length === 0) return [configured];
  return catalogued.map((row) => {
    const baseRow = catalogued.find((candidate) =>
      toTier(candidate.tier) === undefined && compareConditions(candidate, row) === 0
    );
    return { ...row, ...(toTier(row.tier) === undefined ? configured : scalePrices(configured, row, baseRow)) };
  });
}

/** Whether configured prices are a list of rows. */
export function isRows(
  pricing: DatedPricing | readonly DatedPricing[] | undefined,
): pricing is readonly DatedPricing[] {
  return Array.isArray(pricing);
}

/** Scales the overriding prices per token by the ratio of a row to that of standard calls. */
function scalePrices(configured: DatedPricing, row: Pricing, baseRow: Pricing = {}): DatedPricing {
  const scaled = Object.entries(configured).map(([name, price]) => {
    const [own, usual] = [row[name as keyof Pricing], baseRow[name as keyof Pricing]];
    const isScaled = typeof price === "number" && own !== undefined && usual !== undefined && usual > 0;
    return [name, isScaled ? price * own / usual : price];
  });
  return Object.fromEntries(scaled);
}

/** Returns a provider's price list; undefined unless its prices are non-negative numbers and its conditions valid. */
export function pricingIn(value: unknown): readonly DatedPricing[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const isRow = (row: unknown) =>
    isObject(row) && Object.entries(row).every(([name, member]) => isMember(name, member));
  return value.every(isRow) ? value : undefined;
}

function isMember(name: string, value: unknown): boolean {
  if (name === "from" || name === "region") return typeof value === "string";
  if (name === "tier") return priceTiers.some((tier) => tier === value);
  if (name === "hours") return typeof value === "string" && isHours(value);
  if (name === "multipliers") {
    return isObject(value) &&
      Object.values(value).every((factors) => isObject(factors) && Object.values(factors).every(isPriceAmount));
  }
  return isPriceAmount(value);
}

/** Whether a value is a non-negative finite number, as every price is. */
export function isPriceAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Infinity;
}
