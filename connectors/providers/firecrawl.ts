/**
 * Firecrawl: web search, and web pages as Markdown.
 *
 * Source: docs.firecrawl.dev, `POST /v2/search` (two credits for ten results), `POST /v2/scrape` and
 * `GET /v2/team/credit-usage`.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { documentsLazily, searchLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/firecrawl.ts";

/** Firecrawl. */
export const firecrawl: OpenAiCompatible = {
  id: "firecrawl.scrape.v1",
  vendor: "firecrawl",
  baseUrl: "https://api.firecrawl.dev/v2",
  detection: { keys: ["FIRECRAWL_API_KEY"], baseUrl: ["FIRECRAWL_BASE_URL"] },
  withoutChat: true,
  list: { path: "team/credit-usage" },
  models: () => knownModels(entries),
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
