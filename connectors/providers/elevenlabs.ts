/**
 * ElevenLabs: text to speech, with voices identified by id, and speech to text.
 *
 * Source: elevenlabs.io/docs/api-reference, `POST /text-to-speech/{voice_id}/stream` and `POST /speech-to-text`.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { lazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/elevenlabs.ts";

/** ElevenLabs. */
export const elevenlabs: OpenAiCompatible = {
  id: "elevenlabs.tts.v1",
  vendor: "elevenlabs",
  baseUrl: "https://api.elevenlabs.io/v1",
  detection: { keys: ["ELEVENLABS_API_KEY", "ELEVEN_API_KEY"], baseUrl: ["ELEVENLABS_BASE_URL"] },
  authorize: (credential) => ({ "xi-api-key": credential }),
  parameters: { refuse: ["stream_format"] },
  withoutChat: true,
  list: { path: "models" },
  models: () => knownModels(entries),
  readError(body, status) {
    const { detail } = Object(body);
    const { message, status: code } = Object(detail);
    const error = readOpenAiError(message === undefined ? body : { message, code }, status);
    return error.code === "quota_exceeded" ? { ...error, code: "insufficient_quota" } : error;
  },
  operations: {
    speech: lazily(async () => (await import("./_elevenlabs.ts")).elevenLabsSpeech),
    transcription: lazily(async () => (await import("./_elevenlabs.ts")).elevenLabsTranscription),
  },
};
