/**
 * Tavily: web search.
 *
 * Sources: docs.tavily.com, `POST /search` and `GET /usage`; 432 and 433 for an exhausted plan or account, as reported
 * by several projects. Errors have the shape `{detail: {error}}`.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { searchLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/tavily.ts";

/** Tavily. */
export const tavily: OpenAiCompatible = {
  id: "tavily.search.v1",
  vendor: "tavily",
  baseUrl: "https://api.tavily.com",
  detection: { keys: ["TAVILY_API_KEY"], baseUrl: ["TAVILY_BASE_URL"] },
  withoutChat: true,
  list: { path: "usage" },
  models: () => knownModels(entries),
  readError(body, status) {
    const error = readOpenAiError(Object(Object(body).detail).error === undefined ? body : Object(body).detail, status);
    return status === 432 || status === 433 ? { ...error, code: "insufficient_quota" } : error;
  },
  operations: {
    search: searchLazily({
      path: "search",
      maxResults: 20,
      write: ({ query, count, model }) => ({
        query,
        search_depth: model === "search-advanced" ? "advanced" : "basic",
        ...(count === undefined ? {} : { max_results: count }),
      }),
      resultsIn: ({ results }) => results,
      names: { snippet: "content", published: "published_date", score: "score" },
    }),
  },
};
