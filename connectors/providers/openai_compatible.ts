/**
 * Any other OpenAI-compatible server. Its base URL must be configured; an API key is optional.
 * @module
 */
import {
  openAiAudioTranslation,
  openAiEmbeddings,
  openAiImageEdits,
  openAiImages,
  openAiModeration,
  openAiSpeech,
  openAiTranscription,
  plainDocuments,
  plainRerank,
  plainSearch,
} from "./_openai_operations.ts";
import { onlyFirst, type OpenAiCompatible } from "./_openai_vendor.ts";

/** An OpenAI-compatible server at any URL. */
export const openaiCompatible: OpenAiCompatible = {
  id: "openai.compatible.v1",
  vendor: "openai-compatible",
  keyless: true,
  parameters: onlyFirst,
  ownState: ["reasoning_details", "images", "annotations"],
  dialects: { responses: false, completions: false },
  infrastructure: {}, // OpenAI's paths, if the configuration declares that the server supports them
  operations: {
    embeddings: openAiEmbeddings,
    image: openAiImages,
    "image-edit": openAiImageEdits,
    moderation: openAiModeration,
    rerank: plainRerank,
    search: plainSearch,
    documents: plainDocuments,
    speech: openAiSpeech,
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
};
