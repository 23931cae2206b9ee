/**
 * vLLM, a local server.
 *
 * Source: docs.vllm.ai, OpenAI-compatible server.
 * @module
 */
import { effortsFor } from "./_efforts.ts";
import { openAiAudioTranslation, openAiEmbeddings, openAiTranscription, plainRerank } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** vLLM. */
export const vllm: OpenAiCompatible = {
  id: "vllm.local.v1",
  vendor: "vllm",
  baseUrl: "http://127.0.0.1:8000/v1",
  detection: {
    keys: ["VLLM_API_KEY"],
    baseUrl: ["VLLM_BASE_URL"],
    host: ["VLLM_HOST", "VLLM_BASE_URL"],
    port: 8000,
  },
  parameters: { efforts: effortsFor(["none", "low", "medium", "high"]) },
  local: true,
  dialects: { responses: false, completions: true },
  operations: {
    embeddings: openAiEmbeddings,
    rerank: plainRerank,
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
};
