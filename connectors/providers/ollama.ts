/**
 * Ollama, a local server.
 *
 * Source: docs.ollama.com/api/openai-compatibility (it supports `max_tokens`, but neither `n` nor `logit_bias`).
 * OLLAMA_API_KEY is the API key of its cloud service, so it is never sent to a local server.
 * @module
 */
import { effortsFor } from "./_catalogue.ts";
import { openAiEmbeddings } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** Ollama. */
export const ollama: OpenAiCompatible = {
  id: "ollama.local.v1",
  vendor: "ollama",
  baseUrl: "http://127.0.0.1:11434/v1",
  detection: {
    keys: [],
    baseUrl: ["OLLAMA_BASE_URL"],
    host: ["OLLAMA_HOST", "OLLAMA_BASE_URL"],
    port: 11434,
  },
  parameters: {
    rename: { max_completion_tokens: "max_tokens" },
    drop: ["logit_bias"],
    refuse: ["n"],
    efforts: effortsFor(["none", "low", "medium", "high"]),
  },
  local: true,
  dialects: { completions: true },
  operations: { embeddings: openAiEmbeddings },
};
