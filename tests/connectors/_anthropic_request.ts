/**
 * What the tests of the translation to the Messages API share.
 * @module
 */
import { assertEquals, assertThrows } from "@std/assert";
import { toMessagesRequest } from "../../connectors/providers/_anthropic_request.ts";
import type { ChatCompletionRequest, ChatMessage, JsonObject, Tool } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";

/** A message. */
export const hello: ChatMessage = { role: "user", content: "Hello" };
/** A tool. */
export const weather: Tool = {
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: {} } },
};

/** Translates a body, which must not be changed by it. */
export function translate(
  body: Partial<ChatCompletionRequest>,
  id = "claude-haiku-4-5",
  constraints: { max_output_tokens?: number } = { max_output_tokens: 64_000 },
): JsonObject {
  const whole = { messages: [hello], ...body };
  const before = structuredClone(whole);
  const translated = toMessagesRequest({ model: { id, constraints }, stream: false, body: whole });
  assertEquals(whole, before);
  return translated;
}

/** The turns messages become. */
export function readTurns(...messages: ChatMessage[]): unknown {
  return translate({ messages }).messages;
}

/** The message and field of the fault a body is refused with. */
export function catchFault(body: Partial<ChatCompletionRequest>, id?: string): [string, string | null | undefined] {
  const error = assertThrows(() => translate(body, id), UpstreamError);
  assertEquals([error.kind, error.fault?.status], ["request", 400]);
  return [error.message, error.fault?.error.param];
}

/** A text block. */
export function text(words: string): JsonObject {
  return { type: "text", text: words };
}

/** A tool call of an assistant message. */
export function calling(id: string, name: string, input: string, extra?: JsonObject): JsonObject {
  return { id, type: "function", function: { name, arguments: input }, ...(extra ? { extra_content: extra } : {}) };
}
