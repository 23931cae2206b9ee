/**
 * Deepgram: speech to text and text to speech.
 *
 * Source: developers.deepgram.com, `POST /speak` and `POST /listen`.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { lazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/deepgram.ts";

/** Deepgram. */
export const deepgram: OpenAiCompatible = {
  id: "deepgram.audio.v1",
  vendor: "deepgram",
  baseUrl: "https://api.deepgram.com/v1",
  detection: { keys: ["DEEPGRAM_API_KEY"], baseUrl: ["DEEPGRAM_BASE_URL"] },
  authorize: (credential) => ({ authorization: `Token ${credential}` }),
  parameters: { refuse: ["stream_format"] },
  withoutChat: true,
  list: { path: "projects" },
  models: () => knownModels(entries),
  readError: (body, status) => readOpenAiError({ message: Object(body).err_msg, ...Object(body) }, status),
  operations: {
    speech: lazily(async () => (await import("./_deepgram.ts")).deepgramSpeech),
    transcription: lazily(async () => (await import("./_deepgram.ts")).deepgramTranscription),
  },
};
