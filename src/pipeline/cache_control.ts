/**
 * Removes cache markers for models that reject requests with them.
 *
 * Source: Anthropic's Messages API, prompt caching. Other APIs cache automatically.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../contracts/openai.ts";
import { isObject } from "../util/is_object.ts";

/**
 * Removes the cache markers of a request, its messages, parts and tools.
 *
 * @param body The client's request.
 * @returns The members that differ; undefined for a removed member.
 */
export function withoutCacheControl(body: ChatCompletionRequest): JsonObject {
  const edits: JsonObject = "cache_control" in body ? { cache_control: undefined } : {};
  for (const name of ["messages", "tools"]) {
    const list = body[name];
    if (Array.isArray(list) && list.some(isMarked)) edits[name] = list.map(unmarked);
  }
  return edits;
}

function isMarked(value: unknown): value is JsonObject {
  return isObject(value) && ("cache_control" in value || Array.isArray(value.content) && value.content.some(isMarked));
}

/** Content that consists of one text part, only to carry a marker, becomes a string: not every API accepts parts. */
function unmarked(value: unknown): unknown {
  if (!isMarked(value)) return value;
  const { cache_control: _, ...rest } = value;
  if (!Array.isArray(rest.content)) return rest;
  const content = rest.content.map(unmarked) as JsonObject[];
  return { ...rest, content: content.length === 1 && content[0]!.text || content };
}
