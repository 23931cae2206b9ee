/**
 * Jina: embeddings, reranking, web search, and web pages as Markdown.
 *
 * Sources: jina.ai/embeddings and jina.ai/reader, by public clients of `POST /embeddings`, `POST /rerank`, s.jina.ai
 * and r.jina.ai; jina-ai/meta-prompt v9 (requests and responses of all of them), jina-ai/MCP (current models; errors
 * are `{detail}`, 402 means an exhausted balance). Its model list is known only from public reports.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { documentsLazily, embeddingsLazily, plainRerank, searchLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/jina.ts";

const headers = { accept: "application/json" };

/** Jina. */
export const jina: OpenAiCompatible = {
  id: "jina.ai.v1",
  vendor: "jina",
  baseUrl: "https://api.jina.ai/v1",
  detection: { keys: ["JINA_API_KEY"], baseUrl: ["JINA_BASE_URL"] },
  withoutChat: true,
  list: { path: "models" },
  models: () => knownModels(entries),
  operations: {
    embeddings: embeddingsLazily({
      path: "embeddings",
      purposeName: "task",
      purposes: { query: "retrieval.query", document: "retrieval.passage" },
      own: ["truncate", "late_chunking"],
      write: ({ model, inputs, dimensions, purpose }) => ({
        model,
        input: inputs,
        ...(purpose === undefined ? {} : { task: purpose }),
        ...(dimensions === undefined ? {} : { dimensions }),
      }),
      varyInLength: true,
    }),
    rerank: plainRerank,
    search: searchLazily({
      path: "search",
      maxResults: 20,
      // titles and descriptions only: complete pages would cost their tokens
      headers: { ...headers, "x-respond-with": "no-content" },
      write: ({ query, count }) => ({ q: query, ...(count === undefined ? {} : { num: count }) }),
      resultsIn: ({ data }) => data,
      names: { snippet: "description", published: "date" },
      usageIn: ({ meta }) => ({ searches: 1, total_tokens: Object(Object(meta).usage).tokens }),
    }),
    documents: documentsLazily(() =>
      Promise.resolve({
        path: "reader",
        headers,
        write: ({ url }) => ({ url }),
        pagesIn: ({ data }) => [Object(data).content],
        usageIn: ({ data }) => ({ total_tokens: Object(Object(data).usage).tokens }),
      })
    ),
  },
};
