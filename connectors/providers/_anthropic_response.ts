/**
 * Converts a complete response of the Messages API to OpenAI's chat completion.
 *
 * Source: https://platform.claude.com/docs/en/api/messages/create
 * @module
 */
import type { AssistantMessage, ChatCompletion, JsonObject, ToolCall } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import { readAnthropicError } from "./_anthropic_fault.ts";
import { carryThoughts, type Thought, thoughtBlock } from "./_anthropic_thoughts.ts";
import { toFinishReason, toRefusal, toUsage } from "./_anthropic_usage.ts";
import { upstreamError } from "./_http.ts";

/** Values to fill in if a response of the Messages API lacks them. */
export interface ResponseFacts {
  /** The requested model. */
  readonly model: string;
  /** Unix time, seconds. */
  readonly created: number;
}

/**
 * Translates a complete response.
 *
 * @param answer The parsed body.
 * @param facts Values to fill in.
 * @throws {UpstreamError} If the response is an error, or has no content.
 */
export function toChatCompletion(answer: JsonObject, facts: ResponseFacts): ChatCompletion {
  if (answer.type === "error" || (answer.error && !answer.content)) {
    throw upstreamError(200, readAnthropicError(answer, 200));
  }
  if (!Array.isArray(answer.content)) {
    throw new UpstreamError("The provider's response has no content", { kind: "invalid_response" });
  }
  const { id, model, stop_reason, stop_details } = answer;
  const usage = toUsage(answer.usage);
  return {
    id: typeof id === "string" ? id : "",
    object: "chat.completion",
    created: facts.created,
    model: typeof model === "string" ? model : facts.model,
    choices: [{
      index: 0,
      message: { ...toMessage(answer.content), refusal: stop_reason === "refusal" ? toRefusal(stop_details) : null },
      finish_reason: toFinishReason(stop_reason),
      logprobs: null,
    }],
    ...(usage === undefined ? {} : { usage }),
  };
}

function toMessage(blocks: readonly JsonObject[]): AssistantMessage {
  let text = "";
  const reasoning: string[] = [];
  const calls: ToolCall[] = [];
  let thoughts: Thought[] = [];
  for (const block of blocks) {
    const thought = thoughtBlock(block);
    if (thought !== undefined) thoughts.push({ block: thought, textBefore: text.length });
    if (block?.type === "text") text += block.text ?? "";
    else if (block?.type === "thinking" && block.thinking) reasoning.push(String(block.thinking));
    else if (block?.type === "tool_use") {
      calls.push(toToolCall(block, thoughts));
      thoughts = [];
    }
  }
  return {
    role: "assistant",
    content: text === "" ? null : text,
    refusal: null,
    ...(reasoning.length === 0 ? {} : { reasoning_content: reasoning.join("\n\n") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function toToolCall({ id, name, input }: JsonObject, thoughts: readonly Thought[]): ToolCall {
  const extra = carryThoughts(thoughts);
  return {
    id: String(id),
    type: "function",
    function: { name: String(name), arguments: JSON.stringify(input ?? {}) },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}
