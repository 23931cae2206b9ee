/**
 * Price lists that come from outside.
 * @module
 */
import type { DatedPricing } from "../contracts/provider.ts";
import { isObject } from "./is_object.ts";

/** A price list of a provider's response; undefined unless every price in it is a number of 0 or more. */
export function pricingIn(value: unknown): readonly DatedPricing[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const isPrice = (entry: unknown) =>
    isObject(entry) &&
    Object.entries(entry).every(([name, price]) => name === "from" ? typeof price === "string" : isAmount(price));
  return value.every(isPrice) ? value : undefined;
}

/** Whether a value is a number of 0 or more, the form of every price. */
export function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Infinity;
}
