/**
 * The usage of a call as its provider reports it: only numbers that can be true.
 * @module
 */
import type { ModelConstraints } from "../contracts/provider.ts";
import type { TokenCounts } from "../state/usage.ts";
import type { TakenUsage, UsageContext } from "./operation.ts";
import type { AnswerUsage } from "./routed.ts";

/** More than any call takes: the bound where a model's window or output is unknown, tokens. */
const maxTokens = 100_000_000;

/**
 * The most tokens one call can take: what the model reads and writes.
 *
 * @param constraints The model's.
 * @param answers How many answers are asked for, as the request has it.
 */
export function tokenBound({ context_window, max_output_tokens }: ModelConstraints = {}, answers?: unknown): number {
  if (context_window === undefined || max_output_tokens === undefined) return maxTokens;
  const times = typeof answers === "number" && answers > 1 ? answers : 1;
  return Math.min(context_window + max_output_tokens * times, maxTokens);
}

/**
 * Reads token counts: whole numbers from 0 to the bound. Anything else counts as missing, a total below its parts too.
 *
 * @param usage As the provider wrote it, in OpenAI's words.
 * @param bound The most tokens the call can take.
 *
 * @example
 * ```ts ignore
 * readUsage({ prompt_tokens: 12, completion_tokens: "5", total_tokens: 20 }, bound); // { input: 12, output: 8, tokens: 20 }
 * ```
 */
export function readUsage(usage: unknown, bound: number): TokenCounts {
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, prompt_cache_hit_tokens } = Object(
    usage,
  );
  const [read, written] = [countOf(prompt_tokens, bound), countOf(completion_tokens, bound)];
  const sum = (read ?? 0) + (written ?? 0);
  const total = countOf(total_tokens, bound, sum);
  const input = read ?? (total === undefined || written === undefined ? undefined : total - written);
  const output = written ?? (total === undefined || read === undefined ? undefined : total - read);
  // some vendors count what a cache gave under a name of their own
  const { cached_tokens = prompt_cache_hit_tokens, cache_write_tokens } = Object(prompt_tokens_details);
  return {
    input,
    output,
    tokens: total ?? (input === undefined || output === undefined ? undefined : sum),
    cached: countOf(cached_tokens, input),
    cacheWrite: countOf(cache_write_tokens, input),
  };
}

/**
 * The usage of an operation that reads tokens and writes none; estimated where the provider does not report it.
 *
 * @param answer As the provider reports it, in OpenAI's words; a bare total counts as read.
 * @param context The call.
 */
export function readInputUsage({ usage }: AnswerUsage, { load }: UsageContext<unknown>): TakenUsage {
  const { prompt_tokens, total_tokens } = Object(usage);
  const input = countOf(prompt_tokens, maxTokens) ?? countOf(total_tokens, maxTokens);
  const isEstimated = input === undefined;
  const tokens = input ?? load.input;
  return { quantities: { input: tokens, output: 0 }, tokens, isEstimated };
}

function countOf(value: unknown, most = 0, least = 0): number | undefined {
  return Number.isInteger(value) && value as number >= least && value as number <= most ? value as number : undefined;
}
