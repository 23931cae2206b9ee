/**
 * Voyage AI: embeddings and reranking.
 *
 * Sources: docs.voyageai.com/reference/embeddings-api and /reranker-api (errors are `{detail}`). Its model list is
 * undocumented.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { embeddingsLazily, rerankLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/voyage.ts";

/** Voyage AI. */
export const voyage: OpenAiCompatible = {
  id: "voyage.embeddings.v1",
  vendor: "voyage",
  baseUrl: "https://api.voyageai.com/v1",
  detection: { keys: ["VOYAGE_API_KEY"], baseUrl: ["VOYAGE_BASE_URL"] },
  withoutChat: true,
  list: { path: "models" },
  models: () => knownModels(entries),
  operations: {
    embeddings: embeddingsLazily({
      path: "embeddings",
      purposeName: "input_type",
      purposes: { query: "query", document: "document" },
      own: ["truncation"],
      write: ({ model, inputs, dimensions, purpose }) => ({
        model,
        input: inputs,
        ...(purpose === undefined ? {} : { input_type: purpose }),
        ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
      }),
    }),
    rerank: rerankLazily({ path: "rerank", topName: "top_k", resultsName: "data" }),
  },
};
