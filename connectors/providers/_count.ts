/**
 * Parsing of token counts.
 * @module
 */
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { isObject } from "../../src/util/is_object.ts";

/**
 * Parses one count; 0 if the vendor omits it.
 *
 * @param value The vendor's value.
 * @returns NaN if it is not a count, which makes any sum NaN as well.
 */
export function parseCount(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return Number.isInteger(value) && value as number >= 0 ? value as number : NaN;
}

/** Extracts the tokens of a vendor's usage that stands elsewhere than OpenAI's; the engine ignores invalid counts. */
export function readTokens(usage: unknown): BilledUsage {
  if (!isObject(usage)) return {};
  const { prompt_tokens, completion_tokens, prompt_tokens_details: details, cached_tokens } = usage;
  const { cached_tokens: cached = cached_tokens } = Object(details) as { cached_tokens?: unknown };
  const counts = { input: prompt_tokens, output: completion_tokens, cached };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => typeof count === "number"));
}
