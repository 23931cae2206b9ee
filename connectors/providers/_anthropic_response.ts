/**
 * Converts a complete response of the Messages API to OpenAI's chat completion.
 *
 * Source: https://platform.claude.com/docs/en/api/messages/create
 * @module
 */
import type { Annotation, AssistantMessage, ChatCompletion, JsonObject, ToolCall } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { toAnnotations } from "./_anthropic_citations.ts";
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
  /** Whether the response is passed on as it came: blocks that chat cannot express are content too. */
  readonly isNative?: boolean;
}

/** Block types with an equivalent in chat other than a tool call. */
const plainTypes: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking"]);

/**
 * Whether a block counts as a tool call: in a native response, all blocks that chat cannot express, such as calls of
 * provider-executed tools.
 *
 * @param facts Whether the response is native.
 */
export function isCall({ type }: JsonObject, { isNative }: Pick<ResponseFacts, "isNative">): boolean {
  return type === "tool_use" || isNative === true && typeof type === "string" && !plainTypes.has(type);
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
      message: {
        ...toMessage(answer.content, facts),
        refusal: stop_reason === "refusal" ? toRefusal(stop_details) : null,
      },
      finish_reason: toFinishReason(stop_reason),
      logprobs: null,
    }],
    ...(usage === undefined ? {} : { usage }),
  };
}

function toMessage(blocks: readonly JsonObject[], facts: ResponseFacts): AssistantMessage {
  let text = "";
  const reasoning: string[] = [];
  const calls: ToolCall[] = [];
  const annotations: Annotation[] = [];
  let thoughts: Thought[] = [];
  for (const block of blocks) {
    const thought = thoughtBlock(block);
    if (thought !== undefined) thoughts.push({ block: thought, textBefore: text.length });
    if (block?.type === "text") {
      const start = text.length;
      text += block.text ?? "";
      appendAll(annotations, toAnnotations(block.citations, { start, end: text.length }));
    } else if (block?.type === "thinking" && block.thinking) reasoning.push(String(block.thinking));
    else if (isCall(Object(block), facts)) {
      calls.push(toToolCall(block, thoughts));
      thoughts = [];
    }
  }
  return {
    role: "assistant",
    content: text === "" ? null : text,
    refusal: null,
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(reasoning.length === 0 ? {} : { reasoning_content: reasoning.join("\n\n") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function toToolCall({ type, id, name = type, input }: JsonObject, thoughts: readonly Thought[]): ToolCall {
  const extra = carryThoughts(thoughts);
  return {
    id: String(id ?? ""),
    type: "function",
    function: { name: String(name), arguments: JSON.stringify(input ?? {}) },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}
