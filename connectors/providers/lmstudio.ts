/**
 * LM Studio, a local server.
 *
 * Source: lmstudio.ai/docs.
 * @module
 */
import { openAiEmbeddings } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** LM Studio. */
export const lmstudio: OpenAiCompatible = {
  id: "lmstudio.local.v1",
  vendor: "lmstudio",
  baseUrl: "http://127.0.0.1:1234/v1",
  detection: {
    keys: ["LMSTUDIO_API_KEY"],
    baseUrl: ["LMSTUDIO_BASE_URL"],
    host: ["LMSTUDIO_HOST", "LMSTUDIO_BASE_URL"],
    port: 1234,
  },
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
  local: true,
  dialects: { responses: false, completions: true },
  operations: { embeddings: openAiEmbeddings },
};
