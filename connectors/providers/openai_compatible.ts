/**
 * Any other server that speaks OpenAI's dialect: its address has to be configured, a key need not be.
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
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** A server of OpenAI's dialect at any address. */
export const openaiCompatible: OpenAiCompatible = {
  id: "openai.compatible.v1",
  vendor: "openai-compatible",
  keyless: true,
  dialects: { responses: false, completions: false },
  infrastructure: {}, // by OpenAI's paths, where the configuration says that the server has them
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
