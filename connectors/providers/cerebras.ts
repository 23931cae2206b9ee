/**
 * Cerebras.
 *
 * Source: inference-docs.cerebras.ai, ReqLLM's Cerebras guide (fields that cause a 400). It accepts reasoning as
 * `reasoning`, and rejects `reasoning_content` (qwen-code#11045).
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { effortsFor } from "./_efforts.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/cerebras.ts";

/** Cerebras. */
export const cerebras: OpenAiCompatible = {
  id: "cerebras.api.v1",
  vendor: "cerebras",
  baseUrl: "https://api.cerebras.ai/v1",
  detection: { keys: ["CEREBRAS_API_KEY"], baseUrl: ["CEREBRAS_BASE_URL"] },
  dialects: { completions: true },
  parameters: {
    thoughts: "reasoning",
    drop: ["presence_penalty", "frequency_penalty", "logit_bias", "top_k"],
    max_stop_sequences: 4,
    efforts: effortsFor(["none", "low", "medium", "high"]),
  },
  models: () => knownModels(entries),
};
