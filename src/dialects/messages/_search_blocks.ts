/**
 * Blocks of web searches that the proxy has run. Clients return them unchanged, so the excerpts travel in the member for
 * encrypted content, which only its maker reads.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { fromBase64Json, toBase64Json } from "../../util/json_base64.ts";
import { readSources, type WebSearch, type WebSource } from "../web_search_results.ts";

/** Prefix that distinguishes excerpts from the content of a model's own search. */
const prefix = "mesh:";

/** Beginning of the ids of searches that the proxy has run. */
const ownId = "srvtoolu_mesh_";

/** The call of a search, and its result. */
export function toSearchBlocks(
  { id, query, sources, fault }: WebSearch,
): readonly [use: JsonObject, result: JsonObject] {
  const useId = `${ownId}${id.replace(/[^A-Za-z0-9_-]/g, "")}`;
  const content = fault === undefined
    ? sources.map(toResult)
    : { type: "web_search_tool_result_error", error_code: fault };
  return [
    { type: "server_tool_use", id: useId, name: "web_search", input: { query } },
    { type: "web_search_tool_result", tool_use_id: useId, content },
  ];
}

function toResult({ url, title, snippet, published }: WebSource): JsonObject {
  const encrypted_content = prefix + toBase64Json({ snippet });
  return { type: "web_search_result", url, title, encrypted_content, page_age: published ?? null };
}

/** The pages in the result of a search, with excerpts if the proxy has run it. */
export function readResultSources(content: readonly unknown[]): WebSource[] {
  return readSources(content.map((result) => {
    if (!isObject(result)) return result;
    const { encrypted_content: carried, page_age: published } = result;
    const state = isCarried(carried) ? fromBase64Json(carried.slice(prefix.length)) : undefined;
    return { ...result, snippet: state?.snippet, published };
  }));
}

/** Whether a block is of a search that the proxy has run, which the API would reject. */
export function isOwnSearchBlock({ type, id, tool_use_id }: JsonObject): boolean {
  if (type === "server_tool_use") return typeof id === "string" && id.startsWith(ownId);
  return type === "web_search_tool_result" && typeof tool_use_id === "string" && tool_use_id.startsWith(ownId);
}

function isCarried(content: unknown): content is string {
  return typeof content === "string" && content.startsWith(prefix);
}
