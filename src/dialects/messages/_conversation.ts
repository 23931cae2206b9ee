/**
 * Converts turns of Messages to chat messages. In Messages, tool results are blocks of the user's turn; in chat, they
 * are separate messages.
 * @module
 */
import type { ChatMessage, ContentPart, JsonObject, ToolCall } from "../../contracts/openai.ts";
import { checkCount, invalid, missing, wrongType } from "../../pipeline/check_body.ts";
import { appendAll } from "../../util/append_all.ts";
import { isObject } from "../../util/is_object.ts";
import { carriedBy } from "./_carried.ts";
import { blocksOf, markOf, partsOf, stringAt, textOf, unknownBlock } from "./_content.ts";

/**
 * Converts a conversation.
 *
 * @param system The system prompt: a string or text blocks.
 * @param turns The `messages` of the request.
 * @throws {UnsupportedRequestError} If it is malformed, or cannot be expressed in chat.
 */
export function chatMessagesOf(system: unknown, turns: unknown): ChatMessage[] {
  if (turns === undefined) throw missing("messages");
  if (!Array.isArray(turns)) throw wrongType("messages", "an array", turns);
  checkCount(turns, "messages");
  if (turns.length === 0) throw invalid('"messages" has to have at least one message', "messages");
  const all: ChatMessage[] = systemMessages(system, "system");
  /** Ids of calls without a result yet. */
  let open = new Set<string>();
  turns.forEach((turn, index) => {
    const where = `messages[${index}]`;
    if (!isObject(turn)) throw wrongType(where, "an object", turn);
    const blocks = blocksOf(turn.content, `${where}.content`);
    const at = `${where}.content`;
    switch (turn.role) {
      case "user":
        appendAll(all, userMessages(blocks, at, open));
        open = new Set();
        break;
      case "assistant": {
        const message = assistantMessage(blocks, at);
        for (const { id } of message.tool_calls ?? []) open.add(id);
        all.push(message);
        break;
      }
      case "system":
        appendAll(all, systemMessages(turn.content, at));
        break;
      default:
        throw wrongRole(turn.role, `${where}.role`);
    }
  });
  return all;
}

/** One system message for all blocks, with the last cache breakpoint. */
function systemMessages(content: unknown, where: string): ChatMessage[] {
  const text = content === undefined || content === null ? "" : textOf(content, where, "\n\n");
  if (text === "") return [];
  const marked = Array.isArray(content) ? content.findLast((block) => isObject(block.cache_control)) : undefined;
  return [{ role: "system", content: plainOf([{ type: "text", text, ...markOf(marked) }]) }];
}

function wrongRole(role: unknown, where: string): Error {
  if (role === undefined) return missing(where);
  if (typeof role !== "string") return wrongType(where, "a string", role);
  return invalid(
    `"${where}" is ${JSON.stringify(role.slice(0, 80))}, and has to be "user" or "assistant"; ` +
      "the result of a tool is a tool_result block of a user's message",
    where,
  );
}

/** Results come first: they follow the message with the calls. */
function userMessages(blocks: readonly JsonObject[], where: string, open: ReadonlySet<string>): ChatMessage[] {
  const results: ChatMessage[] = [];
  const parts: ContentPart[] = [];
  const answered = new Set<string>();
  blocks.forEach((block, index) => {
    const at = `${where}[${index}]`;
    if (block.type !== "tool_result") return appendAll(parts, marked(partsOf(block, at), block));
    const { message, files } = toolResult(block, at);
    const id = message.tool_call_id!;
    if (!open.has(id) || answered.has(id)) throw unmatchedResult(id, `${at}.tool_use_id`, open.has(id));
    answered.add(id);
    results.push(message);
    appendAll(parts, files);
  });
  for (const id of open) {
    if (!answered.has(id)) throw invalid(`"${where}" has no tool_result for the call ${JSON.stringify(id)}`, where);
  }
  if (parts.length === 0) return results.length > 0 ? results : [{ role: "user", content: "" }];
  return [...results, { role: "user", content: plainOf(parts) }];
}

function unmatchedResult(id: string, where: string, isRepeated: boolean): Error {
  const call = JSON.stringify(id.slice(0, 80));
  return invalid(
    isRepeated
      ? `"${where}" is a second result of the call ${call}`
      : `"${where}" is ${call}, but the previous message has no tool_use block with that id`,
    where,
  );
}

/** Converts a tool result. Chat results are text only: images and files follow in a user message. */
function toolResult(block: JsonObject, where: string): { message: ChatMessage; files: ContentPart[] } {
  const id = stringAt(block, "tool_use_id", where);
  const at = `${where}.content`;
  const content = block.content === undefined || block.content === null ? [] : blocksOf(block.content, at);
  const parts = content.flatMap((inner, index) => partsOf(inner, `${at}[${index}]`));
  const strings = parts.flatMap(({ type, text }) => type === "text" ? [text!] : []);
  const files = parts.filter(({ type }) => type !== "text");
  if (block.is_error === true) strings.unshift("The tool failed:");
  if (files.length > 0) strings.push(`(${files.length} more in the next message)`);
  return {
    message: { role: "tool", tool_call_id: id, content: strings.join("\n"), ...markOf(block) },
    files: files.length === 0 ? [] : [{ type: "text", text: `Of the result of the tool call ${id}:` }, ...files],
  };
}

function assistantMessage(blocks: readonly JsonObject[], where: string): ChatMessage {
  let text = "";
  const thoughts: string[] = [];
  const calls: ToolCall[] = [];
  let state: JsonObject | undefined;
  blocks.forEach((block, index) => {
    const at = `${where}[${index}]`;
    switch (block.type) {
      case "text":
        text += stringAt(block, "text", at);
        break;
      case "thinking":
        thoughts.push(stringAt(block, "thinking", at));
        break;
      case "redacted_thinking":
        state = carriedBy(block) ?? state;
        break;
      case "tool_use":
        calls.push(toolCall(block, at, state));
        state = undefined;
        break;
      default:
        throw unknownBlock(block, at, "text, thinking, redacted_thinking and tool_use");
    }
  });
  const reasoning = thoughts.filter((thought) => thought !== "").join("\n\n");
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...markOf(blocks.at(-1)),
  };
}

function toolCall(block: JsonObject, where: string, state: JsonObject | undefined): ToolCall {
  const { input = {} } = block;
  if (!isObject(input)) throw wrongType(`${where}.input`, "an object", input);
  return {
    id: stringAt(block, "id", where),
    type: "function",
    function: { name: stringAt(block, "name", where), arguments: JSON.stringify(input) },
    ...(state === undefined ? {} : { extra_content: state }),
  };
}

/** The cache breakpoint of a block is set on its last part. */
function marked(parts: ContentPart[], block: JsonObject): ContentPart[] {
  const last = parts.at(-1);
  return last === undefined ? parts : [...parts.slice(0, -1), { ...last, ...markOf(block) }];
}

/** A single text part without a breakpoint is sent as a string: some APIs accept parts only together with images. */
function plainOf(parts: ContentPart[]): string | ContentPart[] {
  const [first, second] = parts;
  const isPlain = second === undefined && first!.type === "text" && !("cache_control" in first!);
  return isPlain ? first!.text! : parts;
}
