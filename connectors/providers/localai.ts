/**
 * LocalAI, a local server.
 *
 * Source: localai.io/docs.
 * @module
 */
import {
  openAiEmbeddings,
  openAiImages,
  openAiSpeech,
  openAiTranscription,
  plainRerank,
} from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** LocalAI. */
export const localai: OpenAiCompatible = {
  id: "localai.local.v1",
  vendor: "localai",
  baseUrl: "http://127.0.0.1:8080/v1",
  detection: {
    keys: [],
    baseUrl: ["LOCALAI_BASE_URL"],
    host: ["LOCALAI_HOST", "LOCALAI_BASE_URL"],
    port: 8080,
  },
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
  local: true,
  dialects: { completions: true },
  operations: {
    embeddings: openAiEmbeddings,
    image: openAiImages,
    rerank: plainRerank,
    speech: openAiSpeech,
    transcription: openAiTranscription,
  },
};
