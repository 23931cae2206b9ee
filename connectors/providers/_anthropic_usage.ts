/**
 * Claude's token counts and stop reasons in OpenAI's terms.
 *
 * Source: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons and /prompt-caching
 * @module
 */
import type { CompletionUsage, FinishReason, JsonObject } from "../../src/contracts/openai.ts";

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

/**
 * Why an answer ended.
 *
 * @param stopReason The API's `stop_reason`; what nobody knows counts as a plain end.
 */
export function toFinishReason(stopReason: unknown): FinishReason {
  return finishReasons[String(stopReason)] ?? "stop";
}

/**
 * Why an answer was refused, in the vendor's words.
 *
 * @param details The API's `stop_details`.
 */
export function toRefusal(details: unknown): string | null {
  const { explanation } = (details ?? {}) as { explanation?: unknown };
  return typeof explanation === "string" && explanation !== "" ? explanation : null;
}

/**
 * Token counts. Claude counts what a cache gave or took apart from the input; OpenAI within it.
 *
 * @param usage The API's `usage`.
 */
export function toUsage(usage: JsonObject): CompletionUsage {
  const read = count(usage.cache_read_input_tokens);
  const written = count(usage.cache_creation_input_tokens);
  const prompt = count(usage.input_tokens) + read + written;
  const completion = count(usage.output_tokens);
  const { thinking_tokens } = (usage.output_tokens_details ?? {}) as { thinking_tokens?: unknown };
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    ...(typeof thinking_tokens === "number"
      ? { completion_tokens_details: { reasoning_tokens: thinking_tokens } }
      : {}),
  };
}

/**
 * Counts that came later in a stream over earlier ones: they are cumulative, and those left out still hold.
 *
 * @param known The counts so far.
 * @param news The counts of a later event.
 */
export function mergeUsage(known: JsonObject | undefined, news: unknown): JsonObject | undefined {
  if (typeof news !== "object" || news === null) return known;
  const told = Object.entries(news).filter(([, value]) => value !== null && value !== undefined);
  return { ...known, ...Object.fromEntries(told) };
}

function count(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}
