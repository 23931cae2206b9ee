/**
 * Jina AI: embeddings and reranking.
 *
 * Sources: jina-ai/meta-prompt v9 (requests and responses of both), jina-ai/MCP (current models; errors are `{detail}`,
 * 402 is a balance that is used up). Its list of models is known from public reports alone.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { embeddingsLazily, plainRerank } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/jina.ts";

/** Jina AI. */
export const jina: OpenAiCompatible = {
  id: "jina.ai.v1",
  vendor: "jina",
  baseUrl: "https://api.jina.ai/v1",
  detection: { keys: ["JINA_API_KEY"], baseUrl: ["JINA_BASE_URL"] },
  withoutChat: { probePath: "models" },
  models: () => knownModels(entries),
  operations: {
    embeddings: embeddingsLazily({
      path: "embeddings",
      purposeName: "task",
      purposes: { query: "retrieval.query", document: "retrieval.passage" },
      own: ["truncate", "late_chunking"],
      write: ({ model, texts, dimensions, purpose }) => ({
        model,
        input: texts,
        ...(purpose === undefined ? {} : { task: purpose }),
        ...(dimensions === undefined ? {} : { dimensions }),
      }),
      varyInLength: true,
    }),
    rerank: plainRerank,
  },
};
