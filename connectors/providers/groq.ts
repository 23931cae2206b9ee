/**
 * Groq. Its `llama-3.3-70b-versatile` was switched off on 2026-08-16.
 *
 * Source: console.groq.com/docs/openai (what it refuses), groq.com/pricing as quoted by third parties (speech).
 * @module
 */
import { chatModel, singleModel } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** Groq. */
export const groq: OpenAiCompatible = {
  id: "groq.api.v1",
  vendor: "groq",
  baseUrl: "https://api.groq.com/openai/v1",
  detection: { keys: ["GROQ_API_KEY"], baseUrl: ["GROQ_BASE_URL"] },
  parameters: { drop: ["logit_bias"], refuse: ["n", "logprobs", "top_logprobs"] },
  models: () => [
    chatModel("openai/gpt-oss-120b", {
      can: "TSR",
      window: 131_072,
      maxOutput: 65_536,
      pricing: [{ input: 0.15, output: 0.6, cached_input: 0.075 }],
      isDefault: true,
    }),
    chatModel("openai/gpt-oss-20b", {
      can: "TSR",
      window: 131_072,
      maxOutput: 65_536,
      pricing: [{ input: 0.075, output: 0.3, cached_input: 0.0375 }],
      isDefault: true,
    }),
    chatModel("llama-3.1-8b-instant", {
      can: "T",
      window: 131_072,
      maxOutput: 131_072,
      pricing: [{ input: 0.05, output: 0.08 }],
    }),
    singleModel("whisper-large-v3-turbo", "understanding.audio.speech-to-text", {
      pricing: [{ per_minute: 0.04 / 60 }],
      isDefault: true,
      source: "groq.com/pricing as quoted 2026-08",
    }),
    singleModel("canopylabs/orpheus-v1-english", "generation.audio.text-to-speech", { isDefault: true }),
  ],
};
