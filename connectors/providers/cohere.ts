/**
 * Cohere: chat through its OpenAI-compatible API; embeddings, reranking and the model list through its native API,
 * since only that supports embedding dimensions.
 *
 * Sources: docs.cohere.com/docs/compatibility-api and cohere-developer-experience#606 (parameters);
 * cohere-openapi.yaml, `POST /v2/embed` and `POST /v2/rerank`; docs.cohere.com/reference/list-models.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { effortsFor } from "./_efforts.ts";
import { embeddingsLazily, rerankLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/cohere.ts";

/** The model list with the maximum page size. */
const modelsPath = "v1/models?page_size=1000";

/** Cohere. */
export const cohere: OpenAiCompatible = {
  id: "cohere.nlp.v1",
  vendor: "cohere",
  baseUrl: "https://api.cohere.ai/compatibility/v1",
  detection: { keys: ["COHERE_API_KEY", "CO_API_KEY"], baseUrl: ["COHERE_BASE_URL"] },
  parameters: {
    thoughts: "none",
    drop: ["top_k", "logit_bias", "parallel_tool_calls", "store", "metadata", "service_tier"],
    max_stop_sequences: 5,
    refuse: ["n", "top_logprobs"],
    efforts: effortsFor(["none", "high"]),
  },
  models: () => knownModels(entries),
  list: {
    path: `../../${modelsPath}`,
    members: ["models", "name"],
    next: ({ next_page_token: token }) =>
      typeof token === "string" && token !== ""
        ? `../../${modelsPath}&page_token=${encodeURIComponent(token)}`
        : undefined,
  },
  operations: {
    embeddings: embeddingsLazily({
      path: "../../v2/embed",
      purposeName: "input_type",
      purposes: {
        query: "search_query",
        document: "search_document",
        classification: "classification",
        clustering: "clustering",
      },
      own: ["truncate", "max_tokens", "priority"],
      // the models require an input type; this is the default of the compatible API
      write: ({ model, inputs, dimensions, purpose = "search_document" }) => ({
        model,
        texts: inputs,
        input_type: purpose,
        embedding_types: ["float"],
        ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
      }),
      vectorsIn: ({ embeddings }) => Object(embeddings).float,
      tokensIn: ({ meta }) => Object(Object(meta).billed_units).input_tokens,
    }),
    rerank: rerankLazily({ path: "../../v2/rerank" }),
  },
};
