/**
 * Native requests of the Messages API whose history other models have written: ids of their tool calls, and text of white
 * space alone, which the API rejects.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { isObject } from "../../src/util/is_object.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { mapItems, mapMembers } from "../../src/util/map_members.ts";
import { renameIdentifiers } from "../../src/util/rename_identifiers.ts";
import { claudeRules } from "./anthropic.ts";

const suspectId = /"(tool_use_)?id"\s*:\s*"([^"]*[^"\w-]|[^"]{65})/;
const suspectText = /"text"\s*:\s*"(\s|\\[nrt])*"/;

/**
 * The client's JSON; what other models have written in its history is replaced where the API would reject it.
 *
 * @param text A JSON object.
 */
export function nativeText(text: string): string {
  if (!suspectId.test(text) && !suspectText.test(text)) return text;
  const { messages } = JSON.parse(text) as JsonObject;
  const accepted = withAnthropicIds(withoutBlanks(messages));
  return accepted === messages ? text : editMembers(text, { messages: accepted });
}

function withoutBlanks(messages: unknown): unknown {
  const hasBlank = (turn: unknown) => isByModel(turn) && turn.content.some(isBlankText);
  if (!Array.isArray(messages) || !messages.some(hasBlank)) return messages;
  return messages.flatMap((turn) => {
    if (!hasBlank(turn)) return [turn];
    const content = turn.content.filter((block: unknown) => !isBlankText(block));
    return content.length === 0 ? [] : [{ ...turn, content }]; // a turn must not be empty
  });
}

function isByModel(turn: unknown): turn is JsonObject & { content: unknown[] } {
  return isObject(turn) && turn.role === "assistant" && Array.isArray(turn.content);
}

function isBlankText(block: unknown): boolean {
  return isObject(block) && block.type === "text" && typeof block.text === "string" && block.text.trim() === "";
}

function withAnthropicIds(messages: unknown): unknown {
  const ids = new Set<string>();
  mapIds(messages, (id) => {
    if (typeof id === "string") ids.add(id);
    return id;
  });
  const renamed = renameIdentifiers(ids, claudeRules.tool_call_ids!);
  return renamed.size === 0 ? messages : mapIds(messages, (id) => renamed.get(id as string) ?? id);
}

function mapIds(messages: unknown, map: (id: unknown) => unknown): unknown {
  const mapBlock = (block: unknown) => {
    const type = isObject(block) ? block.type : undefined;
    if (type === "tool_use") return mapMembers(block, { id: map });
    return type === "tool_result" ? mapMembers(block, { tool_use_id: map }) : block;
  };
  return mapItems(messages, (turn) => mapMembers(turn, { content: (content) => mapItems(content, mapBlock) }));
}
