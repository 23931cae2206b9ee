/**
 * Serper: Google search results.
 *
 * Sources: serper.dev's playground, `POST /search` and `GET /account`, from public clients; 400 with "Not enough
 * credits" for an exhausted account, as reported by several projects.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { searchLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/serper.ts";

/** Serper. */
export const serper: OpenAiCompatible = {
  id: "serper.search.v1",
  vendor: "serper",
  baseUrl: "https://google.serper.dev",
  detection: { keys: ["SERPER_API_KEY"], baseUrl: ["SERPER_BASE_URL"] },
  withoutChat: true,
  list: { path: "account" },
  models: () => knownModels(entries),
  authorize: (credential) => ({ "x-api-key": credential }),
  readError(body, status) {
    const error = readOpenAiError(body, status);
    return /not enough credits/i.test(error.message) ? { ...error, code: "insufficient_quota" } : error;
  },
  operations: {
    search: searchLazily({
      path: "search",
      maxResults: 100,
      write: ({ query, count }) => ({ q: query, ...(count === undefined ? {} : { num: count }) }),
      resultsIn: ({ organic }) => organic,
      names: { url: "link", published: "date" },
      usageIn: ({ credits = 1 }) => ({ searches: credits }),
    }),
  },
};
