/**
 * Google Gemini through its native API.
 *
 * Source: https://ai.google.dev/api/generate-content, read 2026-11-21.
 * @module
 */
import type { ProviderDeclaration } from "../../src/contracts/connector.ts";
import { findUnknownRules, geminiModels, geminiRules } from "./_gemini_models.ts";

/** Google Gemini. */
export const gemini: ProviderDeclaration = {
  kind: "provider",
  queries: [],
  id: "google.gemini.v1",
  vendor: "google",
  telemetryName: "gcp.gemini",
  detection: {
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    baseUrl: ["GEMINI_BASE_URL"],
  },
  get models() {
    return geminiModels();
  },
  attributes: {},
  findRules: ({ id }) => findUnknownRules(id),
  parameters: {
    ...geminiRules,
    // the API rejects the penalties for all models since 2.5, and does not support the other parameters
    drop: ["presence_penalty", "frequency_penalty", "logit_bias", "parallel_tool_calls"],
    refuse: ["logprobs", "audio", "functions", "function_call", "web_search_options"],
  },
};
