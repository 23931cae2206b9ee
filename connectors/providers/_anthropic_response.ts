/**
 * Converts a complete response of the Messages API to OpenAI's chat completion.
 *
 * Source: https://platform.claude.com/docs/en/api/messages/create
 * @module
 */
import type { Annotation, AssistantMessage, ChatCompletion, JsonObject, ToolCall } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { formatArguments } from "../../src/util/call_arguments.ts";
import { toCitedAnnotations } from "./_anthropic_citations.ts";
import { readAnthropicError } from "./_anthropic_fault.ts";
import { carryThoughts, type Thought, thoughtBlock } from "./_anthropic_thoughts.ts";
import { fromStopReason, toRefusal, toUsage } from "./_anthropic_usage.ts";
import { upstreamError } from "./_http.ts";

/** Values to fill in if a response of the Messages API lacks them. */
export interface MessageFacts {
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
export function isCall({ type }: JsonObject, { isNative }: Pick<MessageFacts, "isNative">): boolean {
  return type === "tool_use" || isNative === true && typeof type === "string" && !plainTypes.has(type);
}

/**
 * Translates a complete response.
 *
 * @param message The parsed body.
 * @param facts Values to fill in.
 * @throws {UpstreamError} If the response is an error, or has no content.
 */
export function toChatCompletion(message: JsonObject, facts: MessageFacts): ChatCompletion {
  if (message.type === "error" || (message.error && !message.content)) {
    throw upstreamError(200, readAnthropicError(message, 200));
  }
  if (!Array.isArray(message.content)) {
    throw new UpstreamError("The provider's response has no content", { kind: "invalid_response" });
  }
  const { id, model, stop_reason, stop_details } = message;
  const usage = toUsage(message.usage);
  return {
    id: typeof id === "string" ? id : "",
    object: "chat.completion",
    created: facts.created,
    model: typeof model === "string" ? model : facts.model,
    choices: [{
      index: 0,
      message: {
        ...toMessage(message.content, facts),
        refusal: stop_reason === "refusal" ? toRefusal(stop_details) : null,
      },
      finish_reason: fromStopReason(stop_reason),
      logprobs: null,
    }],
    ...(usage === undefined ? {} : { usage }),
  };
}

function toMessage(blocks: readonly JsonObject[], facts: MessageFacts): AssistantMessage {
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
      if (typeof block.text === "string") text += block.text;
      appendAll(annotations, toCitedAnnotations(block.citations, { start, end: text.length }));
    } else if (block?.type === "thinking" && typeof block.thinking === "string" && block.thinking !== "") {
      reasoning.push(block.thinking);
    } else if (isCall(Object(block), facts)) {
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

/**
 * The id and type of a tool call; an id that is not a string is empty, and is created later.
 *
 * @param block The block of the call.
 */
export function toCallHead({ id }: JsonObject): Pick<ToolCall, "id" | "type"> & { readonly type: "function" } {
  return { id: typeof id === "string" ? id : "", type: "function" };
}

/**
 * The name of a tool call; that of a provider-executed tool may be its type.
 *
 * @param block The block of the call.
 * @throws {UpstreamError} `invalid_response` if a call of a client's tool has no name.
 */
export function toCallName({ type, name }: JsonObject): string {
  if (typeof name === "string" && name !== "") return name;
  if (type !== "tool_use") return String(type);
  throw new UpstreamError("The provider's response calls a tool without a name", { kind: "invalid_response" });
}

function toToolCall(block: JsonObject, thoughts: readonly Thought[]): ToolCall {
  const extra = carryThoughts(thoughts);
  return {
    ...toCallHead(block),
    function: { name: toCallName(block), arguments: formatArguments(block.input) },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}
