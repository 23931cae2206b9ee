/**
 * SambaNova.
 *
 * Source: docs.sambanova.ai, LiteLLM's list of supported parameters.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { effortsFor } from "./_efforts.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/sambanova.ts";

/** SambaNova. */
export const sambanova: OpenAiCompatible = {
  id: "sambanova.api.v1",
  vendor: "sambanova",
  baseUrl: "https://api.sambanova.ai/v1",
  detection: { keys: ["SAMBANOVA_API_KEY"], baseUrl: ["SAMBANOVA_BASE_URL"] },
  parameters: {
    thoughts: "none",
    rename: { max_completion_tokens: "max_tokens" },
    refuse: ["n", "logprobs", "top_logprobs"],
    efforts: effortsFor(["low", "medium", "high"]),
  },
  models: () => knownModels(entries),
};
