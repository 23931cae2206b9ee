/**
 * What limits and weights say, made safe: nothing that a vendor's header or a program of its own may hold makes a
 * strategy stumble.
 * @module
 */
import type { Headroom, ModelView } from "../../src/contracts/rotation.ts";

const minuteMs = 60_000;

/**
 * The share of its limits that a model has left, of requests or of tokens, whichever is less: 0 to 1. An unknown
 * limit leaves all.
 *
 * @param view The model.
 */
export function leftShare({ requests, tokens }: ModelView): number {
  return Math.min(shareOf(requests), shareOf(tokens));
}

/**
 * What a limit allows in a minute; undefined where none is known.
 *
 * @param headroom Of requests or of tokens.
 */
export function perMinute(headroom: Headroom | undefined): number | undefined {
  if (headroom === undefined) return undefined;
  const { limit, windowMs = minuteMs } = headroom;
  const rate = limit * minuteMs / windowMs;
  return rate >= 0 && rate < Infinity ? rate : undefined;
}

/**
 * A model's weight; 0 where it is no number above that.
 *
 * @param view The model.
 */
export function weightOf({ weight }: ModelView): number {
  return weight > 0 && weight < Infinity ? weight : 0;
}

function shareOf(headroom: Headroom | undefined): number {
  if (headroom === undefined) return 1;
  const { limit, left } = headroom;
  if (!(limit < Infinity) || Number.isNaN(left)) return 1;
  if (limit <= 0 || left <= 0) return 0;
  return Math.min(1, left / limit);
}
