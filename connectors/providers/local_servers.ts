/**
 * Local servers with an OpenAI-compatible API, in one module, since each module adds to the duration of every start.
 * @module
 */
import { effortsFor } from "./_catalogue.ts";
import {
  openAiAudioTranslation,
  openAiEmbeddings,
  openAiImages,
  openAiSpeech,
  openAiTranscription,
  plainRerank,
} from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/**
 * LM Studio, a local server.
 *
 * Source: lmstudio.ai/docs.
 */
export const lmstudio: OpenAiCompatible = {
  id: "lmstudio.local.v1",
  vendor: "lmstudio",
  otherNames: ["lm-studio"],
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

/**
 * vLLM, a local server.
 *
 * Source: docs.vllm.ai, OpenAI-compatible server.
 */
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

/**
 * LocalAI, a local server.
 *
 * Source: localai.io/docs.
 */
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
