/**
 * Parses untrusted price lists.
 * @module
 */
import type { DatedPricing } from "../contracts/provider.ts";
import { isObject } from "./is_object.ts";

/** Returns a provider's price list; undefined unless every price is a non-negative number. */
export function pricingIn(value: unknown): readonly DatedPricing[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const isPrice = (entry: unknown) =>
    isObject(entry) &&
    Object.entries(entry).every(([name, price]) => name === "from" ? typeof price === "string" : isAmount(price));
  return value.every(isPrice) ? value : undefined;
}

/** Whether a value is a non-negative finite number, as every price is. */
export function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Infinity;
}
