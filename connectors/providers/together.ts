/**
 * Together AI.
 *
 * Source: docs.together.ai.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { effortsFor } from "./_efforts.ts";
import {
  imagesLazily,
  openAiAudioTranslation,
  openAiEmbeddings,
  openAiSpeech,
  openAiTranscription,
  plainRerank,
} from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/together.ts";

/** Together AI. */
export const together: OpenAiCompatible = {
  id: "together.api.v1",
  vendor: "together",
  baseUrl: "https://api.together.xyz/v1",
  detection: {
    keys: ["TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHERAI_API_KEY"],
    baseUrl: ["TOGETHER_BASE_URL"],
  },
  parameters: {
    thoughts: "none",
    rename: { max_completion_tokens: "max_tokens" },
    efforts: effortsFor(["low", "medium", "high"]),
  },
  models: () => knownModels(entries),
  operations: {
    embeddings: openAiEmbeddings,
    image: imagesLazily(async () => (await import("./_together_images.ts")).togetherImages),
    rerank: plainRerank,
    speech: openAiSpeech,
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
};
