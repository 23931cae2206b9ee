/**
 * Requests to vendors of web search and of pages, and what they answer.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationFacts } from "./_operation.ts";

/** A result of a search. */
export const page: { title: string; url: string; snippet: string } = {
  title: "Towers",
  url: "https://towers.example/",
  snippet: "The tallest",
};
/** The response of a search with that result. */
export const found = (usage: object): JsonObject => ({ object: "search", model: "small", results: [page], usage });
/** The response to a request for a document of one page. */
export const parsed = (model: string): JsonObject => ({
  object: "document",
  model,
  text: "# One",
  pages: [{ page: 1, markdown: "# One" }],
  usage: {},
});
/** The address of a document. */
export const url = "https://papers.example/one.pdf";
/** What is searched for. */
export const searched: { query: string; max_results: number } = { query: "tower", max_results: 3 };

/** By connector and operation. */
export const ofSearch: Readonly<Record<string, Readonly<Record<string, OperationFacts>>>> = {
  "perplexity.search.v1": {
    search: {
      body: searched,
      sends: { path: "/v1/search", json: searched },
      replies: { id: "1", results: [{ ...page, date: "2026-01-31", last_updated: null }] },
      becomes: { ...found({ searches: 1 }), results: [{ ...page, published: "2026-01-31" }] },
    },
  },
  "tavily.search.v1": {
    search: {
      model: "search-advanced",
      body: { query: "tower", max_results: 50 },
      sends: { path: "/v1/search", json: { query: "tower", search_depth: "advanced", max_results: 20 } },
      replies: {
        query: "tower",
        results: [{ title: page.title, url: page.url, content: page.snippet, score: 0.9, raw_content: null }],
      },
      becomes: { ...found({ searches: 1 }), model: "search-advanced", results: [{ ...page, score: 0.9 }] },
    },
  },
  "serper.search.v1": {
    search: {
      body: searched,
      sends: { path: "/v1/search", json: { q: "tower", num: 3 } },
      replies: {
        organic: [{ title: page.title, link: page.url, snippet: page.snippet, date: "2 days ago", position: 1 }],
        credits: 1,
      },
      becomes: { ...found({ searches: 1 }), results: [{ ...page, published: "2 days ago" }] },
    },
  },
  "firecrawl.scrape.v1": {
    search: {
      body: searched,
      sends: { path: "/v1/search", json: { query: "tower", limit: 3 } },
      replies: {
        success: true,
        data: { web: [{ title: page.title, url: page.url, description: page.snippet, position: 1 }] },
        creditsUsed: 4,
      },
      becomes: found({ searches: 2 }),
    },
    documents: {
      body: { url },
      sends: { path: "/v1/scrape", json: { url, formats: ["markdown"] } },
      replies: { success: true, data: { markdown: "# One", metadata: { title: "One" } } },
      becomes: parsed("small"),
    },
  },
};
