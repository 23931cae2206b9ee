/**
 * Cache markers: placed where models expect them, or removed for models that reject requests with them.
 *
 * Source: Anthropic's Messages API, prompt caching. Other APIs cache automatically.
 * @module
 */
import type { ChatCompletionRequest, ChatMessage, JsonObject } from "../contracts/openai.ts";
import { isObject } from "../util/is_object.ts";

/**
 * Moves the cache marker of a message to its last content part, or to its last tool call if it has no content: models
 * expect it there.
 *
 * @returns The same list if no message has one.
 */
export function withPlacedMarks(messages: ChatMessage[]): ChatMessage[] {
  return messages.some(isMarkedItself)
    ? messages.map((one) => isMarkedItself(one) ? withPlacedMark(one) : one)
    : messages;
}

function isMarkedItself(message: unknown): boolean {
  return isObject(message) && "cache_control" in message;
}

function withPlacedMark({ cache_control, ...message }: ChatMessage): ChatMessage {
  const { content, tool_calls: calls } = message;
  const parts = typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : content;
  if (cache_control === null) return message;
  const [name, list] = Array.isArray(parts) && parts.length > 0 ? ["content", parts] : ["tool_calls", calls];
  if (!Array.isArray(list) || !isObject(list.at(-1))) return message;
  return { ...message, [name]: [...list.slice(0, -1), { ...list.at(-1), cache_control }] };
}

/**
 * Removes the cache markers of a request, its messages, parts, tool calls and tools.
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

/** Members of messages and tools that may be marked themselves. */
const markable: readonly string[] = ["content", "tool_calls", "function"];

function isMarked(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const isMarkedAt = (name: string) => Array.isArray(value[name]) ? value[name].some(isMarked) : isMarked(value[name]);
  return "cache_control" in value || markable.some(isMarkedAt);
}

function unmarked(value: unknown): unknown {
  if (!isMarked(value)) return value;
  const { cache_control: _, ...rest } = value;
  for (const name of markable) {
    const member = rest[name];
    if (Array.isArray(member)) rest[name] = member.map(unmarked);
    else if (isMarked(member)) rest[name] = unmarked(member);
  }
  return Array.isArray(rest.content)
    ? { ...rest, content: toPlainContent(rest.content, rest.role) || rest.content }
    : rest;
}

/**
 * Content that consists of one text part, only to carry a marker, becomes a string: not every API accepts parts. Those
 * of instructions are joined.
 */
function toPlainContent(parts: readonly unknown[], role: unknown): string | undefined {
  const isJoined = role === "system" || role === "developer";
  const texts = parts.flatMap((part) => isObject(part) && typeof part.text === "string" ? part.text : []);
  return texts.length === parts.length && (isJoined || texts.length === 1) ? texts.join("\n\n") : undefined;
}
