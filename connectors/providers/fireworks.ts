/**
 * Fireworks AI.
 *
 * Source: docs.fireworks.ai. Efforts of GLM 5: docs.fireworks.ai/guides/reasoning, as implemented by
 * langchain-ai/deepagents.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { dialectAttributes } from "./_dialect_attributes.ts";
import { imagesLazily, openAiAudioTranslation, openAiEmbeddings, openAiTranscription } from "./_openai_operations.ts";
import { onlyFirst, type OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/fireworks.ts";

/** Fireworks AI. */
export const fireworks: OpenAiCompatible = {
  id: "fireworks.api.v1",
  vendor: "fireworks",
  baseUrl: "https://api.fireworks.ai/inference/v1",
  detection: { keys: ["FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"], baseUrl: ["FIREWORKS_BASE_URL"] },
  dialects: { completions: true },
  attributes: dialectAttributes({ completions: true }),
  parameters: { ...onlyFirst, rename: { max_completion_tokens: "max_tokens" } }, // litellm#39852
  models: () => knownModels(entries),
  operations: {
    embeddings: openAiEmbeddings,
    image: imagesLazily(async () => (await import("./_fireworks_images.ts")).fireworksImages),
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
};
