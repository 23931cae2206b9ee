/**
 * Converts a complete chat response to a message.
 * @module
 */
import type {
  AssistantMessage,
  ChatCompletion,
  CompletionUsage,
  JsonObject,
  OutputImage,
  ToolCall,
} from "../../contracts/openai.ts";
import { parseArguments } from "../../util/call_arguments.ts";
import { isObject } from "../../util/is_object.ts";
import { parseDataUrl } from "../../util/data_url.ts";
import type { ResponsePart } from "../dialect.ts";
import { createCarrier } from "./_carried.ts";
import { toTextBlocks } from "./_citations.ts";
import { toSearchBlocks } from "./_search_blocks.ts";

const stopReasons: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "refusal",
};

/**
 * Converts a complete response.
 *
 * @param completion The response; its first choice is used, since Messages supports one.
 * @param context The requested stop sequences, and what comes before the response.
 */
export function formatMessage(
  { id, model, choices, usage }: ChatCompletion,
  { stops, before = [] }: {
    readonly stops?: readonly string[] | undefined;
    readonly before?: readonly ResponsePart[] | undefined;
  },
): JsonObject {
  const choice = choices[0];
  const searches = before.filter((part) => part.search !== undefined).length;
  const hasRefused = Boolean(choice?.message.refusal);
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [...before.flatMap(formatPart), ...choice === undefined ? [] : formatMessageBlocks(choice.message)],
    ...formatMessageEnd(choice ?? {}, { stops, hasRefused }),
    usage: formatMessageUsage(usage, searches),
  };
}

/** The end of a response: `stop_reason` and `stop_sequence`. */
export function formatMessageEnd(
  { finish_reason, stop_reason }: {
    readonly finish_reason?: string | null;
    /** The stop sequence that was matched, if the vendor reports it. */
    readonly stop_reason?: unknown;
  },
  { stops, hasRefused }: {
    /** The requested stop sequences. */
    readonly stops: readonly string[] | undefined;
    /** Whether the response is a refusal. */
    readonly hasRefused: boolean;
  },
): JsonObject {
  const reason = hasRefused ? "refusal" : stopReasons[finish_reason ?? "stop"] ?? "end_turn";
  const sequence = reason === "end_turn" && stops?.find((stop) => stop === stop_reason);
  return sequence
    ? { stop_reason: "stop_sequence", stop_sequence: sequence }
    : { stop_reason: reason, stop_sequence: null };
}

function formatPart({ search, message }: ResponsePart): readonly JsonObject[] {
  return search === undefined ? formatMessageBlocks(message) : toSearchBlocks(search);
}

/**
 * Converts token counts. Messages excludes cached tokens from the input tokens.
 *
 * @param searches Number of searches that the proxy has run.
 */
export function formatMessageUsage(usage: CompletionUsage | null | undefined, searches = 0): JsonObject {
  const { prompt_tokens = 0, completion_tokens = 0, prompt_tokens_details } = usage ?? {};
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0 } = prompt_tokens_details ?? {};
  return {
    input_tokens: Math.max(0, prompt_tokens - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: completion_tokens,
    ...(searches === 0 ? {} : { server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 } }),
  };
}

function formatMessageBlocks(message: AssistantMessage): JsonObject[] {
  const { content, refusal, reasoning_content: reasoning = message.reasoning, tool_calls = [] } = message;
  const { reasoning_details } = message;
  const { annotations, images } = message;
  return [
    ...(typeof reasoning === "string" && reasoning !== ""
      ? [{ type: "thinking", thinking: reasoning, signature: "" }]
      : []),
    ...(Array.isArray(reasoning_details) && reasoning_details.length > 0 ? [createCarrier({ reasoning_details })] : []),
    ...toTextBlocks(content ?? "", annotations),
    ...(refusal ? [{ type: "text", text: refusal }] : []),
    ...(Array.isArray(images) ? images.flatMap(imageBlocks) : []),
    ...tool_calls.flatMap(callBlocks),
  ];
}

/** The blocks of an image that the model has generated: what carries its state, and the image. */
export function imageBlocks({ image_url, extra_content: state }: OutputImage): JsonObject[] {
  const url = image_url?.url;
  if (typeof url !== "string") return [];
  const { type: media_type, data } = parseDataUrl(url) ?? {};
  const source = data === undefined ? { type: "url", url } : { type: "base64", media_type, data };
  return [...(isObject(state) ? [createCarrier(state)] : []), { type: "image", source }];
}

function callBlocks({ id, function: { name, arguments: text }, extra_content: state }: ToolCall): JsonObject[] {
  const use = { type: "tool_use", id, name, input: parseArguments(text) };
  return isObject(state) ? [createCarrier(state), use] : [use];
}
