/**
 * Maps Claude's token counts and stop reasons to OpenAI's.
 *
 * Source: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons and /prompt-caching
 * @module
 */
import type { CompletionUsage, FinishReason, JsonObject } from "../../src/contracts/openai.ts";
import type { BilledUsage, FurtherCall } from "../../src/contracts/usage.ts";
import { parseCount } from "./_count.ts";
import { findOwn } from "../../src/util/entries.ts";

/** Members of the usage that are translated. */
const usageMembers = [
  "input_tokens",
  "output_tokens",
  "output_tokens_details",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation",
  "server_tool_use",
  "service_tier",
  "speed",
  "inference_geo",
  "iterations",
];

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
 * Maps a stop reason.
 *
 * @param stopReason The API's `stop_reason`; an unknown one maps to `stop`.
 */
export function fromStopReason(stopReason: unknown): FinishReason {
  return findOwn(finishReasons, stopReason) ?? "stop";
}

/**
 * The refusal message.
 *
 * @param details The API's `stop_details`.
 */
export function toRefusal(details: unknown): string | null {
  const { explanation } = (details ?? {}) as { explanation?: unknown };
  return typeof explanation === "string" && explanation !== "" ? explanation : null;
}

/**
 * Maps token counts. Claude excludes cached tokens from the input tokens; OpenAI includes them.
 *
 * @param usage The API's `usage`.
 * @returns Undefined if it has no counts: unknown rather than 0.
 */
export function toUsage(usage: unknown): CompletionUsage | undefined {
  const { input_tokens, output_tokens, output_tokens_details, ...cache } = Object(usage) as JsonObject;
  const cached_tokens = parseCount(cache.cache_read_input_tokens);
  const cache_write_tokens = countWrites(cache);
  const prompt_tokens = parseCount(input_tokens ?? NaN) + cached_tokens + cache_write_tokens;
  const completion_tokens = parseCount(output_tokens ?? NaN);
  const total_tokens = prompt_tokens + completion_tokens;
  if (Number.isNaN(total_tokens)) return undefined;
  const { thinking_tokens } = Object(output_tokens_details) as { thinking_tokens?: unknown };
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_tokens_details: { cached_tokens, cache_write_tokens },
    ...(typeof thinking_tokens === "number"
      ? { completion_tokens_details: { reasoning_tokens: thinking_tokens } }
      : {}),
  };
}

/** Some hosts report the durations of writes without their sum. */
function countWrites({ cache_creation_input_tokens: sum, cache_creation }: JsonObject): number {
  const { ephemeral_5m_input_tokens, ephemeral_1h_input_tokens } = Object(cache_creation) as JsonObject;
  return parseCount(sum ?? parseCount(ephemeral_5m_input_tokens) + parseCount(ephemeral_1h_input_tokens));
}

/** Iterations whose tokens the sums do not include. */
const separateIterations: readonly unknown[] = ["compaction", "advisor_message"];

/**
 * The calls by which the API has shortened the conversation, or consulted another model.
 *
 * Source: the types of `@anthropic-ai/sdk` 1.14.0 (`BetaIterationsUsage`), and
 * https://platform.claude.com/docs/en/build-with-claude/compaction-threshold, read 2026-11-26.
 */
function listFurtherCalls(iterations: unknown): readonly FurtherCall[] {
  const separate = Array.isArray(iterations)
    ? iterations.filter((iteration) => separateIterations.includes(Object(iteration).type))
    : [];
  return separate.flatMap((iteration) => {
    const usage = toUsage(iteration);
    if (usage === undefined) return [];
    const { prompt_tokens, completion_tokens, prompt_tokens_details: details } = usage;
    const { model, cache_creation } = Object(iteration) as JsonObject;
    return [{
      ...(typeof model === "string" && { model }),
      ...{ input: prompt_tokens, output: completion_tokens },
      ...{ cached: details?.cached_tokens, cacheWrite: details?.cache_write_tokens },
      cacheWrite1h: parseCount(Object(cache_creation).ephemeral_1h_input_tokens),
    }];
  });
}

/** Names of the API for what has no price of its own. */
const usual: readonly unknown[] = ["standard", "not_available"];

/**
 * Extracts what Claude bills besides its token counts. A tier or a region that is not stated is omitted.
 *
 * Sources: https://platform.claude.com/docs/en/about-claude/pricing, /build-with-claude/fast-mode and /data-residency
 *
 * @param usage The API's `usage`.
 */
export function readClaudeBilled(usage: unknown): BilledUsage {
  const { cache_creation, server_tool_use, service_tier, speed, inference_geo, iterations } = Object(
    usage,
  ) as JsonObject;
  const cacheWrite1h = parseCount(Object(cache_creation).ephemeral_1h_input_tokens ?? NaN);
  const searches = parseCount(Object(server_tool_use).web_search_requests ?? NaN);
  const tier = speed === "fast" ? speed : service_tier;
  const furtherCalls = listFurtherCalls(iterations);
  return {
    ...(cacheWrite1h > 0 && { cacheWrite1h }),
    ...(searches > 0 && { searches }),
    ...(typeof tier === "string" && { tier: usual.includes(tier) ? "default" : tier }),
    ...(typeof inference_geo === "string" && !usual.includes(inference_geo) && { region: inference_geo }),
    ...(furtherCalls.length > 0 && { furtherCalls }),
  };
}

/**
 * Merges the counts of a later stream event. Counts are cumulative; omitted ones keep their value.
 *
 * @param usage The counts so far.
 * @param update The counts of the later event.
 */
export function combineUsage(usage: JsonObject | undefined, update: unknown): JsonObject | undefined {
  if (typeof update !== "object" || update === null) return usage;
  const merged = { ...usage };
  for (const name of usageMembers) {
    const value = (update as JsonObject)[name];
    if (value !== null && value !== undefined) merged[name] = value;
  }
  return merged;
}
