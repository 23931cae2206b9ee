/**
 * Converts OpenAI's messages to the system prompt and turns of the Messages API.
 *
 * Source: https://platform.claude.com/docs/en/api/messages/create
 * @module
 */
import type { ChatMessage, ContentPart, ToolCall } from "../../src/contracts/openai.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { parseArguments } from "../../src/util/call_arguments.ts";
import { contentBlocks, readCacheControl, textBlock, withCacheControl } from "./_anthropic_content.ts";
import { requestFault } from "./_anthropic_fault.ts";
import { type Block, readThoughts, type Thought } from "./_anthropic_thoughts.ts";
import { toText } from "../../src/util/to_text.ts";

/** A turn of the conversation; user and assistant turns alternate. */
export interface AnthropicTurn {
  /** Role of the author. */
  readonly role: "user" | "assistant";
  /** Content blocks. */
  readonly content: Block[];
}

/**
 * Translates a conversation.
 *
 * @param messages OpenAI's messages, oldest first.
 * @throws {UpstreamError} `request` if the Messages API cannot express a message.
 */
export function toConversation(messages: readonly ChatMessage[]): {
  /** The system prompt, in order. */
  readonly system: readonly Block[];
  /** The turns, oldest first. */
  readonly turns: readonly AnthropicTurn[];
} {
  const system: Block[] = [];
  const turns: AnthropicTurn[] = [];
  messages.forEach((message, index) => {
    const where = `messages[${index}]`;
    const blocks = withCacheControl(toBlocks(message, where), message.cache_control);
    if (message.role === "system" || message.role === "developer") appendAll(system, blocks);
    else addBlocks(turns, message.role === "assistant" ? "assistant" : "user", blocks);
  });
  // OpenAI accepts a system prompt alone; the Messages API requires a message
  if (turns.length === 0 && system.length > 0) return { system: [], turns: [{ role: "user", content: system }] };
  return { system, turns: toAcceptedBlocks(turns, messages.at(-1)?.role === "user") };
}

/** Stands for a user's message that is missing or blank. */
const placeholder: AnthropicTurn = { role: "user", content: [{ type: "text", text: "..." }] };

/**
 * Completes turns as the API requires: the first is the user's, as is the last unless the model is to continue its own,
 * which must not end with white space.
 */
function toAcceptedBlocks(turns: readonly AnthropicTurn[], isUserLast: boolean): readonly AnthropicTurn[] {
  const first = turns[0]?.role === "assistant" ? [placeholder, ...turns] : turns;
  const last = first.at(-1);
  if (last?.role === "user") return first;
  if (last === undefined || isUserLast) return [...first, placeholder];
  const block = last.content.at(-1)!;
  if (block.type !== "text") return first;
  const content = [...last.content.slice(0, -1), { ...block, text: toText(block.text).trimEnd() }];
  return [...first.slice(0, -1), { ...last, content }];
}

/**
 * Whether the conversation ends with a tool result, and the thinking blocks that preceded the tool call are missing.
 *
 * @param messages OpenAI's messages, oldest first.
 */
export function isThinkingMissing(messages: readonly ChatMessage[]): boolean {
  if (messages.at(-1)?.role !== "tool") return false;
  const assistantMessage = messages.findLast(({ role }) => role === "assistant");
  return listToolCalls(assistantMessage).every((call) => readThoughts(call).length === 0);
}

function addBlocks(turns: AnthropicTurn[], role: AnthropicTurn["role"], blocks: readonly Block[]): void {
  if (blocks.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) appendAll(last.content, blocks);
  else turns.push({ role, content: [...blocks] });
}

function toBlocks(message: ChatMessage, where: string): Block[] {
  switch (message.role) {
    case "system":
    case "developer":
    case "user":
      return contentBlocks(message.content, `${where}.content`);
    case "assistant":
      return assistantBlocks(message, where);
    case "tool":
      return [toToolResultBlock(message, where)];
    default:
      throw requestFault(
        `Cannot translate ${where}: Claude has no role "${message.role}"; a function result has the role "tool"`,
        `${where}.role`,
      );
  }
}

function toToolResultBlock(message: ChatMessage, where: string): Block {
  const { tool_call_id } = message;
  if (typeof tool_call_id !== "string" || tool_call_id === "") {
    throw requestFault(`Cannot translate ${where}: a tool message needs a tool_call_id`, `${where}.tool_call_id`);
  }
  const blocks = contentBlocks(message.content, `${where}.content`);
  const content = blocks.map(({ cache_control: _, ...block }) => block as Block);
  const result = {
    type: "tool_result",
    tool_use_id: tool_call_id,
    ...(content.length === 0 ? {} : { content }),
  };
  // only the result itself may have a cache breakpoint, also if all of its text is blank
  const parts = Array.isArray(message.content) ? message.content : [];
  const marks = parts.map((part) => part?.cache_control);
  return withCacheControl([result], marks.findLast((mark) => readCacheControl(mark) !== undefined))[0]!;
}

function assistantBlocks(message: ChatMessage, where: string): Block[] {
  const calls = listToolCalls(message);
  const uses = calls.map((call, index) => toolUse(call, `${where}.tool_calls[${index}]`));
  const { content } = message;
  const [part, another] = typeof content === "string"
    ? [{ type: "text", text: content }]
    : Array.isArray(content)
    ? content
    : [];
  if (part?.type === "text" && another === undefined) {
    return interleave({ ...part, text: toText(part.text) }, calls, uses);
  }
  const thoughts = calls.flatMap((call) => readThoughts(call).map(({ block }) => block));
  return [...thoughts, ...contentBlocks(content, `${where}.content`), ...uses];
}

/** Restores the order in which text, thinking and tool calls were generated: signatures cover the preceding blocks. */
function interleave(
  { text, cache_control }: ContentPart & { text: string },
  calls: readonly ToolCall[],
  uses: readonly Block[],
): Block[] {
  const blocks: Block[] = [];
  const thoughts = calls.map(readThoughts);
  const ends = nextPositions(thoughts, text.length);
  let sent = 0;
  const addTextUpTo = (end: number) => {
    const upTo = Math.max(sent, Math.min(end, text.length));
    const added = textBlock(text.slice(sent, upTo));
    blocks.push(...upTo === text.length ? withCacheControl(added, cache_control) : added);
    sent = upTo;
  };
  uses.forEach((use, index) => {
    for (const { block, textBefore } of thoughts[index]!) {
      addTextUpTo(textBefore);
      blocks.push(block);
    }
    addTextUpTo(ends[index]!);
    blocks.push(use);
  });
  addTextUpTo(text.length);
  return blocks;
}

/** For each call, the position in the text of the first thought of later calls; the end of the text without one. */
function nextPositions(thoughts: readonly (readonly Thought[])[], end: number): readonly number[] {
  const positions = thoughts.map(() => end);
  for (let index = thoughts.length - 2; index >= 0; index--) {
    positions[index] = thoughts[index + 1]![0]?.textBefore ?? positions[index + 1]!;
  }
  return positions;
}

function listToolCalls(message: ChatMessage | undefined): readonly ToolCall[] {
  return Array.isArray(message?.tool_calls) ? message.tool_calls : [];
}

function toolUse(call: ToolCall, where: string): Block {
  const { id, function: fn }: Partial<ToolCall> = Object(call);
  if (typeof id !== "string" || typeof fn?.name !== "string") {
    throw requestFault(`Cannot translate ${where}: it needs an id and a function with a name`, where);
  }
  const use = {
    type: "tool_use",
    id,
    name: fn.name,
    input: parseArguments(fn.arguments),
  };
  return withCacheControl([use], call.cache_control)[0]!;
}
