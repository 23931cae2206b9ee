/**
 * Reads the usage that a provider reports. Implausible numbers are ignored.
 * @module
 */
import type { ModelConstraints } from "../contracts/provider.ts";
import type { TokenCounts } from "../state/counters/usage.ts";
import type { TakenUsage, UsageContext } from "./operation.ts";
import type { AnswerUsage } from "./routed.ts";

/** The bound for models with unknown context window or output, tokens. */
const maxTokens = 100_000_000;

/**
 * The maximum tokens of one call, input and output.
 *
 * @param constraints The model's constraints.
 * @param answers Number of requested choices, unvalidated.
 */
export function tokenBound({ context_window, max_output_tokens }: ModelConstraints = {}, answers?: unknown): number {
  if (context_window === undefined || max_output_tokens === undefined) return maxTokens;
  const times = typeof answers === "number" && answers > 1 ? answers : 1;
  return Math.min(context_window + max_output_tokens * times, maxTokens);
}

/**
 * Reads token counts: integers from 0 to the bound. Others count as missing, as does a total below the sum of its
 * parts.
 *
 * @param usage The provider's usage, in OpenAI's format.
 * @param bound The maximum tokens of the call.
 *
 * @example
 * ```ts
 * const usage = { prompt_tokens: 12, completion_tokens: "5", total_tokens: 20 };
 * readUsage(usage, 100_000); // { input: 12, output: 8, tokens: 20 }
 * ```
 */
export function readUsage(usage: unknown, bound: number): TokenCounts {
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, prompt_cache_hit_tokens } = Object(
    usage,
  );
  const [read, written] = [readCount(prompt_tokens, bound), readCount(completion_tokens, bound)];
  const sum = (read ?? 0) + (written ?? 0);
  const total = readCount(total_tokens, bound, sum);
  const input = read ?? (total === undefined || written === undefined ? undefined : total - written);
  const output = written ?? (total === undefined || read === undefined ? undefined : total - read);
  // some vendors report cached tokens under another name
  const { cached_tokens = prompt_cache_hit_tokens, cache_write_tokens } = Object(prompt_tokens_details);
  return {
    input,
    output,
    tokens: total ?? (input === undefined || output === undefined ? undefined : sum),
    cached: readCount(cached_tokens, input),
    cacheWrite: readCount(cache_write_tokens, input),
  };
}

/**
 * The usage of an operation without output tokens. It is estimated if the provider does not report it.
 *
 * @param answer The provider's usage, in OpenAI's format; a bare total counts as input.
 */
export function readInputUsage({ usage }: AnswerUsage, { load }: UsageContext<unknown>): TakenUsage {
  const { prompt_tokens, total_tokens } = Object(usage);
  const input = readCount(prompt_tokens, maxTokens) ?? readCount(total_tokens, maxTokens);
  const isEstimated = input === undefined;
  const tokens = input ?? load.input;
  return { quantities: { input: tokens, output: 0 }, tokens, isEstimated };
}

function readCount(value: unknown, most = 0, least = 0): number | undefined {
  return Number.isInteger(value) && value as number >= least && value as number <= most ? value as number : undefined;
}
