/**
 * Marks of what to cache, for models that refuse a request for them.
 *
 * Source: Anthropic's Messages API, prompt caching; other APIs cache by themselves.
 * @module
 */
import type { ChatCompletionRequest, ChatMessage, JsonObject } from "../contracts/openai.ts";

/** The members of a request that have marks, without them. */
type Unmarked = Partial<Record<"messages" | "tools" | "cache_control", unknown>>;

/**
 * Leaves out the marks of a request: its own, and those of messages, parts and tools.
 *
 * @param body As the client made it.
 * @returns What differs, undefined for a member that goes; undefined where there is no mark.
 */
export function withoutCacheControl({ messages, tools, cache_control }: ChatCompletionRequest): Unmarked | undefined {
  const unmarked: Unmarked = {
    ...(messages.some(isMarkedMessage) ? { messages: messages.map(unmarkedMessage) } : {}),
    ...(tools?.some(isMarked) ? { tools: tools.map(withoutMark) } : {}),
    ...(cache_control === undefined ? {} : { cache_control: undefined }),
  };
  return Object.keys(unmarked).length === 0 ? undefined : unmarked;
}

function isMarked(value: unknown): boolean {
  return typeof value === "object" && value !== null && "cache_control" in value;
}

function isMarkedMessage(message: ChatMessage): boolean {
  return isMarked(message) || Array.isArray(message?.content) && message.content.some(isMarked);
}

function unmarkedMessage(message: ChatMessage): unknown {
  if (!isMarkedMessage(message)) return message;
  const plain = withoutMark(message) as JsonObject;
  return Array.isArray(plain.content) ? { ...plain, content: plainOf(plain.content.map(withoutMark)) } : plain;
}

/** A part that was there for its mark alone is written as the text it is: not every API takes parts. */
function plainOf(parts: readonly unknown[]): unknown {
  const [first, second] = parts as readonly JsonObject[];
  return second === undefined && first?.type === "text" && typeof first.text === "string" ? first.text : parts;
}

function withoutMark(value: unknown): unknown {
  if (!isMarked(value)) return value;
  const { cache_control: _, ...rest } = value as JsonObject;
  return rest;
}
