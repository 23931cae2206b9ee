/**
 * Converts chat completions to results of the `ai` package.
 * @module
 */
import type { ChatCompletion, CompletionUsage, ToolCall } from "../../contracts/openai.ts";
import { routingOf } from "../../observe/routing_of.ts";
import { isObject } from "../../util/is_object.ts";
import type { ContentPart, FinishReason, LanguageUsage, ResponseFacts, ToolCallPart } from "./spec.ts";

const reasons: Readonly<Record<string, FinishReason["unified"]>> = {
  stop: "stop",
  length: "length",
  content_filter: "content-filter",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
};

/** Returns the content parts of the first choice: reasoning, text, tool calls. */
export function toContentParts({ choices: [choice] }: ChatCompletion): ContentPart[] {
  if (choice === undefined) return [];
  const { content, refusal, reasoning_content, tool_calls = [] } = choice.message;
  const thoughts = reasoning_content ?? choice.message.reasoning;
  const strings = [content, refusal].filter((text) => typeof text === "string" && text !== "") as string[];
  return [
    ...(typeof thoughts === "string" && thoughts !== "" ? [{ type: "reasoning" as const, text: thoughts }] : []),
    ...strings.map((text) => ({ type: "text" as const, text })),
    ...tool_calls.map(callPart),
  ];
}

/** Converts a tool call. Provider-specific state is kept in its metadata, which returns with the next request. */
export function callPart({ id, function: { name, arguments: input }, extra_content: state }: ToolCall): ToolCallPart {
  return {
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input: input.trim() === "" ? "{}" : input,
    ...(isObject(state) ? { providerMetadata: { mesh: { extra_content: state } } } : {}),
  };
}

/**
 * Converts the finish reason.
 *
 * @param raw OpenAI's `finish_reason`.
 * @param hasRefused Whether the model has written a refusal.
 */
export function toFinishReason(raw: string | null | undefined, hasRefused = false): FinishReason {
  return { unified: hasRefused ? "content-filter" : reasons[raw ?? ""] ?? "other", raw: raw ?? undefined };
}

/** Converts token counts. Unknown counts are undefined. */
export function toLanguageUsage(usage: CompletionUsage | null | undefined): LanguageUsage {
  const { prompt_tokens: total, completion_tokens: written, prompt_tokens_details: read } = usage ?? {};
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = read ?? {};
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens;
  return {
    inputTokens: {
      total,
      noCache: total === undefined ? undefined : total - (cacheRead ?? 0) - (cacheWrite ?? 0),
      cacheRead,
      cacheWrite,
    },
    outputTokens: { total: written, text: written === undefined ? undefined : written - (reasoning ?? 0), reasoning },
  };
}

/** Returns id, creation time and model of a response. */
export function responseFacts({ id, created, model }: Pick<ChatCompletion, "id" | "created" | "model">): ResponseFacts {
  return { id, timestamp: new Date(created * 1000), modelId: model };
}

/** Returns the pool, model and provider that served the response, as provider metadata. */
export function readMetadata(response: object): { mesh: Record<string, string | null> } {
  const { pool = null, model = null, provider = null } = routingOf(response) ?? {};
  return { mesh: { pool, model, provider } };
}
