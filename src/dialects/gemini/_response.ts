/**
 * Converts a complete chat response to a response of `generateContent`.
 * @module
 */
import type {
  AssistantMessage,
  ChatCompletion,
  CompletionUsage,
  JsonObject,
  ToolCall,
} from "../../contracts/openai.ts";
import { shiftAnnotations } from "../../util/annotations.ts";
import { findObject } from "../../util/call_arguments.ts";
import { parseDataUrl } from "../../util/data_url.ts";
import { isObject } from "../../util/is_object.ts";
import type { ResponsePart } from "../dialect.ts";
import { attachSignature } from "./_carried.ts";
import { toGrounding } from "./_grounding.ts";

const finishReasons: Readonly<Record<string, string>> = { length: "MAX_TOKENS", content_filter: "SAFETY" };

/** Converts a complete response. */
export function formatGeminiResponse(
  { id, model, choices, usage }: ChatCompletion,
  { includesThoughts, before = [] }: {
    /** Whether the client requested thoughts. */
    readonly includesThoughts: boolean;
    /** What comes before the response. */
    readonly before?: readonly ResponsePart[] | undefined;
  },
): JsonObject {
  const queries = before.flatMap(({ search }) => search === undefined ? [] : [search.query]);
  const earlier = before.flatMap(({ message }) => message === undefined ? [] : [message]);
  const earlierText = earlier.map(({ content }) => content ?? "").join("");
  const earlierParts = earlier.flatMap((message) => messageParts(message, includesThoughts));
  const candidates = choices.map(({ index, message, finish_reason: reason, logprobs }) => {
    const parts = messageParts(message, includesThoughts);
    const annotations = Array.isArray(message.annotations) ? message.annotations : [];
    return {
      ...formatCandidate(index === 0 ? [...earlierParts, ...parts] : parts, {
        index,
        reason,
        hasRefused: Boolean(message.refusal),
      }),
      ...formatGeminiLogprobs(logprobs),
      ...toGrounding(
        index === 0 ? earlierText + (message.content ?? "") : message.content ?? "",
        index === 0 ? shiftAnnotations(annotations, earlierText.length) : annotations,
        index === 0 ? queries : [],
      ),
    };
  });
  return { candidates, usageMetadata: formatGeminiUsage(usage), modelVersion: model, responseId: id };
}

/**
 * A complete candidate. A function call whose arguments are not a JSON object is omitted, which the finish reason
 * reports.
 *
 * @param parts Its parts; undefined for an invalid call.
 * @param end Its finish reason.
 */
export function formatCandidate(
  parts: readonly (JsonObject | undefined)[],
  { index, reason, hasRefused }: {
    readonly index: number;
    readonly reason: string | null | undefined;
    /** Whether the response is a refusal. */
    readonly hasRefused: boolean;
  },
): JsonObject {
  const converted = parts.filter((part) => part !== undefined);
  const isMalformed = converted.length < parts.length;
  const word = hasRefused ? "SAFETY" : finishReasons[reason ?? "stop"] ?? "STOP";
  return {
    // clients treat content without parts as invalid
    content: { parts: converted.length === 0 ? [{ text: "" }] : converted, role: "model" },
    finishReason: isMalformed ? "MALFORMED_FUNCTION_CALL" : word,
    index,
  };
}

/**
 * The last parts: function calls, and what carries the remaining state. A call whose arguments are not a JSON object is
 * undefined.
 *
 * @param details Reasoning details that no other part carries; they are removed from the list.
 */
export function lastParts(
  calls: readonly Pick<ToolCall, "id" | "function" | "extra_content">[],
  details: JsonObject[],
): (JsonObject | undefined)[] {
  const parts = calls.map(({ id, function: { name, arguments: text }, extra_content }) => {
    const args = text.trim() === "" ? {} : findObject(text);
    if (args === undefined) return undefined;
    return { functionCall: { ...(id === "" ? {} : { id }), name, args }, ...attachSignature(extra_content, details) };
  });
  return details.length === 0 ? parts : [...parts, { text: "", ...attachSignature({}, details) }];
}

/** Converts token counts; thoughts are counted separately from the output. */
export function formatGeminiUsage(usage: CompletionUsage | null | undefined): JsonObject {
  const { prompt_tokens = 0, completion_tokens = 0, total_tokens = prompt_tokens + completion_tokens } = usage ?? {};
  const thoughts = usage?.completion_tokens_details?.reasoning_tokens ?? 0;
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    promptTokenCount: prompt_tokens,
    candidatesTokenCount: Math.max(0, completion_tokens - thoughts),
    totalTokenCount: total_tokens,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
  };
}

/** Converts log probabilities of a choice or chunk, if any. */
export function formatGeminiLogprobs(logprobs: JsonObject | null | undefined): JsonObject {
  const tokens = (Array.isArray(logprobs?.content) ? logprobs.content : []).filter(isObject);
  if (tokens.length === 0) return {};
  const candidate = ({ token, logprob }: JsonObject) => ({ token, logProbability: logprob });
  const tops = tokens.map(({ top_logprobs: top }) => ({
    candidates: (Array.isArray(top) ? top : []).filter(isObject).map(candidate),
  }));
  return { logprobsResult: { chosenCandidates: tokens.map(candidate), topCandidates: tops } };
}

function messageParts(message: AssistantMessage, includesThoughts: boolean): (JsonObject | undefined)[] {
  const { content, refusal, reasoning_content: reasoning = message.reasoning, tool_calls = [] } = message;
  const strings = [content, refusal].filter((text) => typeof text === "string" && text !== "");
  const details = Array.isArray(message.reasoning_details) ? [...message.reasoning_details] : [];
  return [
    ...(includesThoughts && typeof reasoning === "string" && reasoning !== ""
      ? [{ text: reasoning, thought: true }]
      : []),
    ...strings.map((text) => ({ text, ...attachSignature({}, details) })),
    ...imageParts(message.images),
    ...lastParts(tool_calls, details),
  ];
}

/** The parts of images that the model has generated. */
export function imageParts(images: unknown): JsonObject[] {
  if (!Array.isArray(images)) return [];
  return images.filter(isObject).flatMap(({ image_url, extra_content: state }) => {
    const url = isObject(image_url) ? image_url.url : undefined;
    if (typeof url !== "string") return [];
    const { type: mimeType = "image/*", data } = parseDataUrl(url) ?? {};
    const part = data === undefined ? { fileData: { mimeType, fileUri: url } } : { inlineData: { mimeType, data } };
    return [{ ...part, ...attachSignature(isObject(state) ? state : undefined) }];
  });
}
