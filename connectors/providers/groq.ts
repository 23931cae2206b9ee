/**
 * Groq.
 *
 * Source: console.groq.com/docs/openai (unsupported parameters), letta#1272 (stop sequences). It accepts reasoning as `reasoning`, and rejects
 * `reasoning_content` (freellmapi#1070, req_llm#772).
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { effortsFor, knownModels } from "./_catalogue.ts";
import { readTokens } from "./_count.ts";
import { openAiAudioTranslation, openAiSpeech, openAiTranscription } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { groq as entries } from "./catalogue/page_vendors.ts";

/** `on_demand` is the standard tier. The last chunk of a stream has its usage in `x_groq`. */
function readGroqBilled({ service_tier, usage, x_groq }: JsonObject): BilledUsage {
  return {
    ...(service_tier === "on_demand" && { tier: "default" }),
    ...(usage ? {} : readTokens(Object(x_groq).usage)),
  };
}

/** Groq. */
export const groq: OpenAiCompatible = {
  id: "groq.api.v1",
  vendor: "groq",
  baseUrl: "https://api.groq.com/openai/v1",
  detection: { keys: ["GROQ_API_KEY"], baseUrl: ["GROQ_BASE_URL"] },
  parameters: {
    thoughts: "reasoning",
    drop: ["logit_bias", "top_k"],
    max_stop_sequences: 4,
    refuse: ["n", "logprobs", "top_logprobs"],
    efforts: effortsFor(["none", "low", "medium", "high"]),
  },
  models: () => knownModels(entries),
  readBilled: readGroqBilled,
  dialects: { responses: false },
  // console.groq.com/docs/batch: the discount has changed over time, so none is assumed
  infrastructure: { files: { maxBytes: 100 * 1024 * 1024 }, batch: { maxItems: 50_000, maxBytes: 100 * 1024 * 1024 } },
  operations: {
    speech: openAiSpeech,
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
};
