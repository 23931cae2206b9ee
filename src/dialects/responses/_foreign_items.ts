/**
 * Items of a conversation that belong to one vendor's models: they become text for all others, so that a conversation can
 * go on with them.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { toText } from "../../util/to_text.ts";
import { formatSources, joinLines, readSources } from "../web_search_results.ts";

/** Converts an item, given the state that the conversation carries for it. */
type Describe = (item: JsonObject, state: JsonObject | undefined) => string;

const silent: Describe = () => "";

/** The converters, by the type of the item. */
const descriptions: ReadonlyMap<unknown, Describe> = new Map<unknown, Describe>([
  ["web_search_call", describeWebSearch],
  [
    "file_search_call",
    ({ queries, results }) =>
      joinLines(`[Searched files for: ${listTexts(queries).join("; ")}]`, ...listObjects(results).map(formatFile)),
  ],
  [
    "code_interpreter_call",
    ({ code, outputs }) =>
      joinLines("[Ran code:]", toText(code), ...listObjects(outputs).map(({ logs }) => toText(logs))),
  ],
  ["mcp_call", ({ name, server_label: server, arguments: callArguments, output, error }) =>
    joinLines(
      `[Called ${toText(name)} of ${toText(server)} with ${toText(callArguments)}]`,
      toText(output) || formatError(error),
    )],
  [
    "mcp_approval_request",
    ({ name, server_label: server, arguments: callArguments }) =>
      `[Asked to approve the call of ${toText(name)} of ${toText(server)} with ${toText(callArguments)}]`,
  ],
  ["mcp_approval_response", ({ approve }) => `[The user has ${approve === true ? "approved" : "rejected"} the call]`],
  ["compaction", () => "[What came before was compacted to a form that only the model of that time can read.]"],
  ...["mcp_list_tools", "tool_search_call", "tool_search_output", "additional_tools", "configuration_update"]
    .map((type) => [type, silent] as const),
]);

/**
 * Converts an item to text.
 *
 * @param state The state that the conversation carries for the item.
 * @returns Empty if nothing of it matters to other models; undefined if the item is of another type.
 */
export function describeItem(item: JsonObject, state: JsonObject | undefined): string | undefined {
  return descriptions.get(item.type)?.(item, state);
}

/** Whether only the model that made an item can read it. */
export function isSealed({ type }: JsonObject): boolean {
  return type === "compaction";
}

function describeWebSearch({ action }: JsonObject, state: JsonObject | undefined): string {
  const { query, queries, url, pattern, sources } = isObject(action) ? action : {};
  const searched = toText(query) || listTexts(queries).join("; ");
  if (searched === "") return joinLines(`[Read ${toText(url)}]`, toText(pattern));
  const found = readSources(state?.results ?? sources);
  return joinLines(`[Searched the web for: ${searched}]`, formatSources(found));
}

function formatFile({ filename, text }: JsonObject): string {
  return joinLines(toText(filename), toText(text));
}

function formatError(error: unknown): string {
  return typeof error === "string" || !isObject(error) ? toText(error) : toText(error.message);
}

function listTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(toText) : [];
}

function listObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
