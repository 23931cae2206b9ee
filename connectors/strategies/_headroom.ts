/**
 * Headroom and weights, sanitized: invalid values from vendors' headers or custom programs must not break a strategy.
 * @module
 */
import type { Headroom, ModelView } from "../../src/contracts/rotation.ts";

const minuteMs = 60_000;

/** The remaining fraction of a model's request or token limit, whichever is less: 0 to 1. Without a known limit, 1. */
export function leftShare({ requests, tokens }: ModelView): number {
  return Math.min(computeHeadroomShare(requests), computeHeadroomShare(tokens));
}

/**
 * A limit per minute; undefined if unknown.
 *
 * @param headroom Headroom of requests or tokens.
 */
export function perMinute(headroom: Headroom | undefined): number | undefined {
  if (headroom === undefined) return undefined;
  const { limit, windowMs = minuteMs } = headroom;
  const rate = limit * minuteMs / windowMs;
  return rate >= 0 && rate < Infinity ? rate : undefined;
}

/** A model's weight; 0 unless it is a positive number. */
export function getWeight({ weight }: ModelView): number {
  return weight > 0 && weight < Infinity ? weight : 0;
}

function computeHeadroomShare(headroom: Headroom | undefined): number {
  if (headroom === undefined) return 1;
  const { limit, left } = headroom;
  if (!(limit < Infinity) || Number.isNaN(left)) return 1;
  if (limit <= 0 || left <= 0) return 0;
  return Math.min(1, left / limit);
}
