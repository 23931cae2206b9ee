/**
 * Blocks of a conversation that only the API's own models have: they become text for all others, so that a conversation
 * can go on with them.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { appendAll } from "../../util/append_all.ts";
import { isObject } from "../../util/is_object.ts";
import { toText } from "../../util/to_text.ts";
import { formatSources, joinLines } from "../web_search_results.ts";
import { readResultSources } from "./_search_blocks.ts";

/** Blocks of tools that the provider runs, in the turn of the model. */
const hostedResult = /^[a-z_]+_tool_result$/;

/**
 * Converts a block to text.
 *
 * @returns Undefined if the block is of another type.
 */
export function describeBlock(block: JsonObject): string | undefined {
  const { type, name, input, content } = block;
  switch (type) {
    case "server_tool_use":
    case "mcp_tool_use":
      return describeUse(toText(name), input);
    case "compaction":
      return joinLines("[Summary of what came before:]", listTexts(content));
    case "tool_reference":
      return `[The tool ${toText(block.tool_name)} can be called now.]`;
    default:
      return typeof type === "string" && hostedResult.test(type) ? describeResult(type, content) : undefined;
  }
}

function describeUse(name: string, input: unknown): string {
  const { query } = isObject(input) ? input : {};
  if (name === "web_search" && typeof query === "string") return `[Searched the web for: ${query}]`;
  return `[Called ${name} with ${JSON.stringify(input ?? {})}]`;
}

function describeResult(type: string, content: unknown): string {
  if (type !== "web_search_tool_result") return joinLines("[Its result:]", listTexts(content));
  if (Array.isArray(content)) return formatSources(readResultSources(content)) || "[Nothing was found.]";
  return `[The search failed: ${isObject(content) ? toText(content.error_code) : ""}]`;
}

/** Members without text for a reader. */
const unreadable = /^(type|data|cache_control|encrypted_.*)$/;

/** Texts of a result, whose shape depends on the tool: all strings but those that cannot be read. */
function listTexts(value: unknown): string {
  if (typeof value === "string") return value;
  const texts: string[] = [];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "object" && next !== null) appendAll(open, listMembers(next).reverse());
    else if (toText(next) !== "") texts.push(toText(next));
  }
  return texts.join("\n");
}

function listMembers(value: object): unknown[] {
  if (Array.isArray(value)) return [...value];
  return Object.entries(value).filter(([name]) => !unreadable.test(name)).map(([, member]) => member);
}
