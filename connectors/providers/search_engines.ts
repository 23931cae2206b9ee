/**
 * Search engines, and web pages as Markdown, in one module, since each module adds to the duration of every start.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { documentsLazily, searchLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import {
  firecrawl as firecrawlEntries,
  serper as serperEntries,
  tavily as tavilyEntries,
} from "./catalogue/retrieval.ts";

/**
 * Tavily: web search.
 *
 * Sources: docs.tavily.com, `POST /search` and `GET /usage`; 432 and 433 for an exhausted plan or account, as reported
 * by several projects. Errors have the shape `{detail: {error}}`.
 */
export const tavily: OpenAiCompatible = {
  id: "tavily.search.v1",
  vendor: "tavily",
  baseUrl: "https://api.tavily.com",
  detection: { keys: ["TAVILY_API_KEY"], baseUrl: ["TAVILY_BASE_URL"] },
  withoutChat: true,
  list: { path: "usage" },
  models: () => knownModels(tavilyEntries),
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

/**
 * Serper: Google search results.
 *
 * Sources: serper.dev's playground, `POST /search` and `GET /account`, from public clients; 400 with "Not enough
 * credits" for an exhausted account, as reported by several projects.
 */
export const serper: OpenAiCompatible = {
  id: "serper.search.v1",
  vendor: "serper",
  baseUrl: "https://google.serper.dev",
  detection: { keys: ["SERPER_API_KEY"], baseUrl: ["SERPER_BASE_URL"] },
  withoutChat: true,
  list: { path: "account" },
  models: () => knownModels(serperEntries),
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

/**
 * Firecrawl: web search, and web pages as Markdown.
 *
 * Source: docs.firecrawl.dev, `POST /v2/search` (two credits for ten results), `POST /v2/scrape` and
 * `GET /v2/team/credit-usage`.
 */
export const firecrawl: OpenAiCompatible = {
  id: "firecrawl.scrape.v1",
  vendor: "firecrawl",
  baseUrl: "https://api.firecrawl.dev/v2",
  detection: { keys: ["FIRECRAWL_API_KEY"], baseUrl: ["FIRECRAWL_BASE_URL"] },
  withoutChat: true,
  list: { path: "team/credit-usage" },
  models: () => knownModels(firecrawlEntries),
  operations: {
    search: searchLazily({
      path: "search",
      maxResults: 100,
      write: ({ query, count }) => ({ query, ...(count === undefined ? {} : { limit: count }) }),
      resultsIn: ({ data }) => Object(data).web,
      names: { snippet: "description" },
      usageIn: ({ creditsUsed }) => ({ searches: typeof creditsUsed === "number" ? Math.ceil(creditsUsed / 2) : 1 }),
    }),
    documents: documentsLazily(() =>
      Promise.resolve({
        path: "scrape",
        write: ({ url }) => ({ url, formats: ["markdown"] }),
        pagesIn: ({ data }) => [Object(data).markdown],
      })
    ),
  },
};
