/**
 * The item of a search that the proxy has run.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { WebSearch } from "../web_search_results.ts";

/** The events of a search, by the end of their names. */
export const searchStages = ["in_progress", "searching", "completed"] as const;

/**
 * An item.
 *
 * @param body The request, which says whether its client wants the addresses that were found.
 */
export function createSearchItem(
  id: string,
  { query, sources }: WebSearch,
  { include }: JsonObject,
): JsonObject & { id: string } {
  const hasSources = Array.isArray(include) && include.includes("web_search_call.action.sources");
  const action = {
    type: "search",
    query,
    queries: [query],
    ...(hasSources ? { sources: sources.map(({ url }) => ({ type: "url", url })) } : {}),
  };
  return { id, type: "web_search_call", status: "in_progress", action };
}
