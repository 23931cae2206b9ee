/**
 * Ollama on one's own machine.
 *
 * Source: docs.ollama.com/api/openai-compatibility (it knows `max_tokens`, and neither `n` nor `logit_bias`). The
 * variable OLLAMA_API_KEY is the key of its cloud, so it is never sent to a server of one's own.
 * @module
 */
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
  parameters: { rename: { max_completion_tokens: "max_tokens" }, drop: ["logit_bias"], refuse: ["n"] },
  local: true,
  dialects: { completions: true },
  operations: { embeddings: openAiEmbeddings },
};
