/**
 * Requests to vendors of sound, and what they answer.
 * @module
 */
import { completeResponse } from "../support/upstream.ts";
import type { OperationFacts } from "./_operation.ts";

const bytes = new TextEncoder().encode("of a kind");
const files = [{ field: "file", name: "a.mp3", type: "audio/mpeg", bytes }];

/** By connector and operation. */
export const ofSound: Readonly<Record<string, Readonly<Record<string, OperationFacts>>>> = {
  "elevenlabs.tts.v1": {
    speech: {
      model: "eleven_flash_v2_5",
      body: { input: "red", voice: "id/1", speed: 1.1, instructions: "slowly" },
      sends: {
        path: "/v1/text-to-speech/id%2F1/stream?output_format=mp3_44100_128",
        json: { text: "red", model_id: "eleven_flash_v2_5", voice_settings: { speed: 1.1 } },
      },
      replies: completeResponse(200, bytes, "audio/mpeg"),
      becomes: "of a kind",
    },
    transcription: {
      body: { prompt: "colors" },
      files: files,
      sends: { path: "/v1/speech-to-text" },
      replies: { language_code: "eng", text: "Red.", words: [], audio_duration_secs: 3 },
      becomes: { text: "Red.", usage: { type: "duration", seconds: 3 } },
    },
  },
  "azure.tts.v1": {
    speech: {
      body: { input: "red & <green>", voice: "de-DE-KatjaNeural", speed: 1.5 },
      sends: { path: "/v1/v1" },
      replies: completeResponse(200, bytes, "audio/mpeg"),
      becomes: "of a kind",
    },
  },
  "assemblyai.stt.v1": {
    transcription: {
      body: {},
      files: files,
      sends: { path: "/v1/upload" },
      // one reply to all of its requests; the way they go is in assemblyai_test.ts
      replies: { upload_url: "https://cdn.example/1", id: "t1", status: "completed", text: "Red.", audio_duration: 3 },
      becomes: { text: "Red.", usage: { type: "duration", seconds: 3 } },
    },
  },
  "deepgram.audio.v1": {
    speech: {
      body: { input: "red", voice: "aura-2-thalia-en", response_format: "pcm" },
      sends: {
        path: "/v1/speak?model=aura-2-thalia-en&encoding=linear16&container=none&sample_rate=24000",
        json: { text: "red" },
      },
      replies: completeResponse(200, bytes, "audio/l16"),
      becomes: "of a kind",
    },
    transcription: {
      body: { language: "en", response_format: "verbose_json" },
      files: files,
      sends: { path: "/v1/listen?model=small&smart_format=true&utterances=true&language=en" },
      replies: {
        metadata: { duration: 2.5 },
        results: {
          channels: [{
            alternatives: [{
              transcript: "Red.",
              words: [{ word: "red", punctuated_word: "Red.", start: 0.5, end: 1 }],
            }],
          }],
          utterances: [{ start: 0.5, end: 1, transcript: "Red." }],
        },
      },
      becomes: {
        task: "transcribe",
        language: "",
        duration: 2.5,
        text: "Red.",
        segments: [{ id: 0, start: 0.5, end: 1, text: "Red." }],
        words: [{ word: "Red.", start: 0.5, end: 1 }],
        usage: { type: "duration", seconds: 2.5 },
      },
    },
  },
};
