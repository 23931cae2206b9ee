/**
 * Marks of what to cache, for models that refuse a request for them.
 *
 * Source: Anthropic's Messages API, prompt caching; other APIs cache by themselves.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../contracts/openai.ts";
import { isObject } from "../util/is_object.ts";

/**
 * Leaves out the marks of a request: its own, and those of messages, parts and tools.
 *
 * @param body As the client made it.
 * @returns The members that differ, undefined for one that goes.
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

/** A text that was a part for its mark alone is written as such: not every API takes parts. */
function unmarked(value: unknown): unknown {
  if (!isMarked(value)) return value;
  const { cache_control: _, ...rest } = value;
  if (!Array.isArray(rest.content)) return rest;
  const content = rest.content.map(unmarked) as JsonObject[];
  return { ...rest, content: content.length === 1 && content[0]!.text || content };
}
