/**
 * OpenAI.
 * @module
 */
import type { ParameterRules } from "../../src/contracts/provider.ts";
import { knownModels } from "./_catalogue.ts";
import { familyRules, findFamilyRules, generationRules } from "./_openai_family.ts";
import {
  openAiAudioTranslation,
  openAiEmbeddings,
  openAiImageEdits,
  openAiImages,
  openAiModeration,
  openAiSpeech,
  openAiTranscription,
} from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/openai.ts";
import { entries as others } from "./catalogue/openai_media.ts";

// only later models support speech as events (OpenAI's API reference, `stream_format`)
const plainSpeech: ParameterRules = { refuse: ["stream_format"], drop: ["instructions"] };

/** OpenAI. */
export const openai: OpenAiCompatible = {
  id: "openai.llm.v1",
  vendor: "openai",
  baseUrl: "https://api.openai.com/v1",
  detection: { keys: ["OPENAI_API_KEY"], baseUrl: ["OPENAI_BASE_URL"] },
  parameters: familyRules,
  ownState: ["annotations"],
  findRules: findFamilyRules,
  models: () =>
    knownModels([...entries, ...others], {
      findRules: ({ rules: name = "" }) => name === "plain_speech" ? plainSpeech : generationRules()[name],
    }),
  dialects: { responses: true, completions: false }, // completions: only its instruct models
  // help.openai.com/en/articles/9197833-batch-api-faq; the API reference (sizes)
  infrastructure: {
    files: { maxBytes: 512 * 1024 * 1024 },
    batch: { maxItems: 50_000, maxBytes: 200 * 1024 * 1024, priceFactor: 0.5 },
    fineTuning: true,
  },
  operations: {
    embeddings: openAiEmbeddings,
    image: openAiImages,
    "image-edit": openAiImageEdits,
    moderation: openAiModeration,
    speech: openAiSpeech,
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
};
