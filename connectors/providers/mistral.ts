/**
 * Mistral. It responds with 422 to unknown fields, and reports usage in streams by default.
 *
 * Source: docs.mistral.ai; mistralai/platform-docs-public#7, avante.nvim#2347 and eca#231 (rejected fields). Efforts,
 * of which the models in the catalogue support two: docs.mistral.ai/capabilities/reasoning/adjustable; reasoning as
 * content parts: litellm#16272.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { knownModels } from "./_catalogue.ts";
import { documentsLazily, openAiEmbeddings, openAiModeration, openAiTranscription } from "./_openai_operations.ts";
import { mistralRules, type OpenAiCompatible } from "./_openai_vendor.ts";
import { mistral as entries } from "./catalogue/page_vendors.ts";

/** Audio in a chat is billed by its duration. */
function readBilled({ usage }: JsonObject): BilledUsage {
  const { prompt_audio_seconds: seconds } = Object(usage);
  return typeof seconds === "number" ? { seconds } : {};
}

/** Mistral. */
export const mistral: OpenAiCompatible = {
  id: "mistral.api.v1",
  vendor: "mistral",
  telemetryName: "mistral_ai",
  baseUrl: "https://api.mistral.ai/v1",
  detection: { keys: ["MISTRAL_API_KEY"], baseUrl: ["MISTRAL_BASE_URL"] },
  streamUsage: false,
  parameters: {
    thoughts: "none",
    ...mistralRules,
    efforts: {
      minimal: { reasoning_effort: "none" },
      low: { reasoning_effort: "high" },
      medium: { reasoning_effort: "high" },
      xhigh: { reasoning_effort: "high" },
      max: { reasoning_effort: "high" },
    },
    rename: { max_completion_tokens: "max_tokens", seed: "random_seed" },
    max_stop_sequences: 4, // langchain#38047
    drop: ["top_k", "stream_options", "logit_bias", "user", "store", "service_tier"],
    refuse: ["logprobs", "top_logprobs"],
  },
  models: () => knownModels(entries),
  readBilled,
  operations: {
    embeddings: openAiEmbeddings,
    moderation: openAiModeration,
    documents: documentsLazily(async () => (await import("./_mistral_documents.ts")).mistralDocuments),
    transcription: openAiTranscription,
  },
};
