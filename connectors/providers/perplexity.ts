/**
 * Perplexity, whose models search the web before they answer. Sources are extra members of the response; every chunk
 * of a stream reports usage by default. `POST /search` searches without a model.
 *
 * `GET /v1/models` lists agent models, not chat models. The list of the account's asynchronous requests serves to
 * validate the API key (as in google/osv-scalibr).
 *
 * Source: docs.perplexity.ai.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { effortsFor } from "./_efforts.ts";
import { searchLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/perplexity.ts";

/** Perplexity. */
export const perplexity: OpenAiCompatible = {
  id: "perplexity.search.v1",
  vendor: "perplexity",
  baseUrl: "https://api.perplexity.ai",
  detection: { keys: ["PERPLEXITY_API_KEY", "PPLX_API_KEY"], baseUrl: ["PERPLEXITY_BASE_URL"] },
  streamUsage: false,
  parameters: {
    thoughts: "none",
    rename: { max_completion_tokens: "max_tokens" },
    efforts: effortsFor(["minimal", "low", "medium", "high"]),
    refuse: ["n", "stop", "logprobs", "top_logprobs"],
  },
  models: () => knownModels(entries),
  list: { path: "async/chat/completions" },
  operations: {
    search: searchLazily({
      path: "search",
      maxResults: 20,
      write: ({ query, count }) => ({ query, ...(count === undefined ? {} : { max_results: count }) }),
      resultsIn: ({ results }) => results,
      names: { published: "date" },
    }),
  },
};
