/**
 * Converts turns of Messages to chat messages. In Messages, tool results are blocks of the user's turn; in chat, they
 * are separate messages.
 * @module
 */
import type { ChatMessage, ContentPart, JsonObject } from "../../contracts/openai.ts";
import { checkCount, invalid, missing, wrongType } from "../../pipeline/check_body.ts";
import { appendAll } from "../../util/append_all.ts";
import { isObject } from "../../util/is_object.ts";
import type { NativeOnly } from "../native_only.ts";
import { checkBlocks, convertBlock, findMark, simplifyBlocks, stringAt, textParts } from "./_content.ts";
import { convertModelTurn, type TurnEntry } from "./_model_turn.ts";

/** A turn, or adjacent turns of one role that the API merges. */
interface MessagesTurn {
  readonly role: unknown;
  readonly where: string;
  /** The content as it came, of the first. */
  readonly content: unknown;
  readonly entries: TurnEntry[];
  hasTools: boolean;
}

/**
 * Converts a conversation.
 *
 * @param system The system prompt: a string or text blocks.
 * @param turns The `messages` of the request.
 * @param nativeOnly Collects what chat cannot express.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertTurns(system: unknown, turns: unknown, nativeOnly: NativeOnly): ChatMessage[] {
  if (turns === undefined) throw missing("messages");
  if (!Array.isArray(turns)) throw wrongType("messages", "an array", turns);
  checkCount(turns, "messages");
  if (turns.length === 0) throw invalid('"messages" has to have at least one message', "messages");
  const all: ChatMessage[] = systemMessages(system, "system", nativeOnly);
  /** Ids of calls without a result yet. */
  let open = new Set<string>();
  for (const turn of joinTurns(turns)) {
    switch (turn.role) {
      case "user":
        appendAll(all, userMessages(turn, open, nativeOnly));
        open = new Set();
        break;
      case "assistant": {
        const message = convertModelTurn(turn.entries, nativeOnly);
        for (const { id } of message.tool_calls ?? []) open.add(id);
        all.push(message);
        break;
      }
      case "system":
        appendAll(all, systemMessages(turn.content, `${turn.where}.content`, nativeOnly));
        break;
      default:
        addRole(turn.role, `${turn.where}.role`, nativeOnly);
    }
  }
  return all.length > 0 ? all : [{ role: "user", content: "" }];
}

/** Joins adjacent turns with calls, or with results: chat expects all calls in one message, all results after it. */
function joinTurns(turns: readonly unknown[]): readonly MessagesTurn[] {
  const joined: MessagesTurn[] = [];
  turns.forEach((turn, index) => {
    const where = `messages[${index}]`;
    if (!isObject(turn)) throw wrongType(where, "an object", turn);
    const { role, content } = turn;
    const entries = checkBlocks(content, `${where}.content`)
      .map((block, position) => ({ block, at: `${where}.content[${position}]` }));
    const hasTools = entries.some(({ block: { type } }) => type === "tool_use" || type === "tool_result");
    const last = joined.at(-1);
    const isMerged = role === "user" || role === "assistant";
    if (isMerged && last !== undefined && last.role === role && (last.hasTools || hasTools)) {
      appendAll(last.entries, entries);
      last.hasTools = true;
    } else joined.push({ role, where, content, entries, hasTools });
  });
  return joined;
}

/** A block for the API's own accounting, which coding agents put before their prompts. */
const billingHeader = /^x-anthropic-billing-header:[^\n]*\n{0,2}/m;

/** One system message for all blocks. */
function systemMessages(content: unknown, where: string, nativeOnly: NativeOnly): ChatMessage[] {
  const all = content === undefined || content === null ? [] : textParts(content, where, nativeOnly);
  const parts = all.map((part) => ({ ...part, text: part.text!.replace(billingHeader, "") }))
    .filter(({ text }) => text !== "");
  return parts.length === 0 ? [] : [{ role: "system", content: simplifyBlocks(parts) }];
}

function addRole(role: unknown, where: string, nativeOnly: NativeOnly): void {
  if (role === undefined) throw missing(where);
  if (typeof role !== "string") throw wrongType(where, "a string", role);
  nativeOnly.add(
    where,
    `"${where}" is ${JSON.stringify(role.slice(0, 80))}, and has to be "user" or "assistant"; ` +
      "the result of a tool is a tool_result block of a user's message",
  );
}

/** Results come first: they follow the message with the calls. */
function userMessages(
  { entries, where }: MessagesTurn,
  open: ReadonlySet<string>,
  nativeOnly: NativeOnly,
): ChatMessage[] {
  const results: ChatMessage[] = [];
  const parts: ContentPart[] = [];
  const handled = new Set<string>();
  for (const { block, at } of entries) {
    if (block.type !== "tool_result") {
      appendAll(parts, marked(convertBlock(block, at, nativeOnly), block));
      continue;
    }
    const { message, files } = toolResult(block, at, nativeOnly);
    const id = message.tool_call_id!;
    const param = `${at}.tool_use_id`;
    if (!open.has(id) || handled.has(id)) nativeOnly.add(param, unmatchedResult(id, param, open.has(id)));
    handled.add(id);
    results.push(message);
    appendAll(parts, files);
  }
  for (const id of open) {
    if (handled.has(id)) continue;
    const param = `${where}.content`;
    nativeOnly.add(param, `"${param}" has no tool_result for the call ${JSON.stringify(id)}`);
  }
  if (parts.length === 0) return results.length > 0 ? results : [{ role: "user", content: "" }];
  return [...results, { role: "user", content: simplifyBlocks(parts) }];
}

function unmatchedResult(id: string, where: string, isRepeated: boolean): string {
  const call = JSON.stringify(id.slice(0, 80));
  return isRepeated
    ? `"${where}" is a second result of the call ${call}`
    : `"${where}" is ${call}, but the previous message has no tool_use block with that id`;
}

/** Converts a tool result. Chat results are text only: images and files follow in a user message. */
function toolResult(
  block: JsonObject,
  where: string,
  nativeOnly: NativeOnly,
): { message: ChatMessage; files: ContentPart[] } {
  const id = stringAt(block, "tool_use_id", where);
  const at = `${where}.content`;
  const content = block.content === undefined || block.content === null ? [] : checkBlocks(block.content, at);
  const parts = content.flatMap((inner, index) => convertBlock(inner, `${at}[${index}]`, nativeOnly));
  const strings = parts.flatMap(({ type, text }) => type === "text" ? [text!] : []);
  const files = parts.filter(({ type }) => type !== "text");
  if (block.is_error === true) strings.unshift("The tool failed:");
  if (files.length > 0) strings.push(`(${files.length} more in the next message)`);
  const mark = { ...findMark(content.findLast(({ cache_control }) => isObject(cache_control))), ...findMark(block) };
  const text = simplifyBlocks([{ type: "text", text: strings.join("\n"), ...mark }]);
  return {
    message: { role: "tool", tool_call_id: id, content: text },
    files: files.length === 0 ? [] : [{ type: "text", text: `Of the result of the tool call ${id}:` }, ...files],
  };
}

/** The cache breakpoint of a block is set on its last part. */
function marked(parts: ContentPart[], block: JsonObject): ContentPart[] {
  const last = parts.at(-1);
  return last === undefined ? parts : [...parts.slice(0, -1), { ...last, ...findMark(block) }];
}
