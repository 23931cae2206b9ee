/**
 * Converts chat completions to results of the `ai` package.
 * @module
 */
import type { ChatCompletion, CompletionUsage, JsonObject, ToolCall } from "../../contracts/openai.ts";
import { routingOf } from "../../observe/routing_of.ts";
import { readCitations } from "../../util/annotations.ts";
import { parseDataUrl } from "../../util/data_url.ts";
import { isObject } from "../../util/is_object.ts";
import type {
  ContentPart,
  FilePart,
  FinishReason,
  LanguageUsage,
  ProviderOptions,
  ResponseFacts,
  SourcePart,
  ToolCallPart,
} from "./spec.ts";

const reasons: Readonly<Record<string, FinishReason["unified"]>> = {
  stop: "stop",
  length: "length",
  content_filter: "content-filter",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
};

/** Returns the content parts of the first choice: reasoning, text, images, sources, tool calls. */
export function toContentParts({ choices: [choice] }: ChatCompletion): ContentPart[] {
  if (choice === undefined) return [];
  const { content, refusal, reasoning_content, reasoning_details, images, annotations, tool_calls = [] } =
    choice.message;
  const thoughts = reasoning_content ?? choice.message.reasoning;
  const strings = [content, refusal].filter((text) => typeof text === "string" && text !== "") as string[];
  return [
    ...reasoningParts(thoughts, reasoning_details),
    ...strings.map((text) => ({ type: "text" as const, text })),
    ...fileParts(images),
    ...sourceParts(annotations),
    ...tool_calls.map(callPart),
  ];
}

function reasoningParts(thoughts: unknown, details: unknown): ContentPart[] {
  const text = typeof thoughts === "string" ? thoughts : "";
  const state = withDetails(Array.isArray(details) ? details : []);
  return text === "" && state.providerMetadata === undefined ? [] : [{ type: "reasoning", text, ...state }];
}

/** The metadata of reasoning with details, which return with the next request. */
export function withDetails(details: readonly JsonObject[]): { providerMetadata?: ProviderOptions } {
  return details.length === 0 ? {} : { providerMetadata: { mesh: { reasoning_details: details } } };
}

/** Converts images that the model has generated. */
export function fileParts(images: unknown): FilePart[] {
  if (!Array.isArray(images)) return [];
  return images.filter(isObject).flatMap(({ image_url, extra_content: state }) => {
    const url = isObject(image_url) ? String(image_url.url) : "";
    const { type = "image/*", data } = parseDataUrl(url) ?? {};
    if (data === undefined && !URL.canParse(url)) return [];
    return [{
      type: "file" as const,
      mediaType: type,
      data: data === undefined ? { type: "url" as const, url: new URL(url) } : { type: "data" as const, data },
      ...(isObject(state) ? { providerMetadata: { mesh: { extra_content: state } } } : {}),
    }];
  });
}

/**
 * Converts annotations to sources, each of which is returned once.
 *
 * @param annotations The annotations, as they came.
 * @param seen Sources that have been returned.
 */
export function sourceParts(annotations: unknown, seen: Set<string> = new Set()): SourcePart[] {
  return readCitations(annotations).flatMap(({ url, title }) => {
    const key = JSON.stringify([url, title]);
    if (seen.has(key)) return [];
    seen.add(key);
    const id = `source-${seen.size}`;
    return url === ""
      ? { type: "source", sourceType: "document", id, mediaType: "text/plain", title }
      : { type: "source", sourceType: "url", id, url, title };
  });
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
