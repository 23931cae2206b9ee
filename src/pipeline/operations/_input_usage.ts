/**
 * The usage of operations without output tokens.
 * @module
 */
import type { ResponseUsage, TakenUsage, UsageContext } from "../operation.ts";
import { maxTokens, readCount } from "../read_usage.ts";

/**
 * The usage of an operation without output tokens. It is estimated if the provider does not report it.
 *
 * @param answer The provider's usage, in OpenAI's format; a bare total counts as input.
 */
export function readInputUsage({ usage }: ResponseUsage, { load }: UsageContext<unknown>): TakenUsage {
  const { prompt_tokens, total_tokens } = Object(usage);
  const input = readCount(prompt_tokens, maxTokens) ?? readCount(total_tokens, maxTokens);
  const isEstimated = input === undefined;
  const tokens = input ?? load.input;
  return { quantities: { input: tokens, output: 0 }, tokens, isEstimated };
}
