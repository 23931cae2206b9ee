/**
 * Requests and responses with sound: in OpenAI's shape, and as the specification's audio types in `extra`.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { JsonObject, RequestBody } from "./openai.ts";

/** The body of `POST /v1/audio/speech`. */
export interface SpeechRequest extends RequestBody {
  /** The text that is spoken. */
  input: string;
  /** The voice: a name, which `models.<name>.voices` maps to the vendor's own, or a custom voice's id. */
  voice: string | { id: string };
  /** How it is spoken, where the model takes such a wish. */
  instructions?: string | null;
  /** Format of the sound: `mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`. @default {"mp3"} */
  response_format?: string | null;
  /** 0.25 to 4. @default {1} */
  speed?: number | null;
  /** Plain sound, or server-sent events with chunks of it in base64. @default {"audio"} */
  stream_format?: "audio" | "sse" | null;
}

/** The text fields of `POST /v1/audio/transcriptions`; the sound is a file of the form. */
export interface TranscriptionFields extends RequestBody {
  /** Language of the sound, ISO 639-1. */
  language?: string | null;
  /** Text that precedes the sound, or words that occur in it. */
  prompt?: string | null;
  /** `json`, `text`, `srt`, `vtt`, `verbose_json`, or one of the vendor's own. @default {"json"} */
  response_format?: string | null;
  /** 0 to 1. */
  temperature?: number | null;
  /** What `verbose_json` has times of: `word`, `segment`. */
  timestamp_granularities?: string[] | null;
}

/** What a transcript is billed by: the duration of the sound, or tokens. */
export type TranscriptionUsage =
  | { type: "duration"; seconds: number; [key: string]: unknown }
  | { type: "tokens"; input_tokens: number; output_tokens: number; total_tokens: number; [key: string]: unknown };

/** A transcript, and what else its format has: `json` has the text alone. */
export interface Transcription {
  /** What was said. */
  text: string;
  /** Language of the sound, in `verbose_json`. */
  language?: string;
  /** Duration of the sound, seconds, in `verbose_json`. */
  duration?: number;
  /** Segments with times, in `verbose_json`. */
  segments?: TranscriptSegment[];
  /** Words with times, in `verbose_json`. */
  words?: { word: string; start: number; end: number }[];
  /** What was billed, where it was reported. */
  usage?: TranscriptionUsage;
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** A part of a transcript; times in seconds from the beginning. */
export interface TranscriptSegment {
  /** Index, from 0. */
  id: number;
  /** When it begins. */
  start: number;
  /** When it ends. */
  end: number;
  /** What was said. */
  text: string;
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** Spec: AudioRequest. What a request for or with sound asks, in `extra` of a completion request. */
export interface AudioRequest {
  /** The text to be spoken, or the sound to be transcribed. */
  readonly input: string | Uint8Array;
  /** The voice, in the vendor's words. */
  readonly voice?: string;
  /** The format of the sound, or of the transcript. */
  readonly format: string;
  /** The model, as its provider names it. */
  readonly model: string;
  /** Language of the sound, where the request names it. */
  readonly language?: string;
}

/** Spec: AudioResponse. A provider may answer with this alone, in `extra` of its completion response. */
export interface AudioResponse {
  /** Speech: all of it, or as it arrives. */
  readonly audio?: Uint8Array | AsyncIterable<Uint8Array>;
  /** The transcript, in the format asked for. */
  readonly text?: string;
  /** Duration of the sound, seconds. */
  readonly duration?: number;
  /** What it took, as for {@linkcode Transcription.usage}. */
  readonly usage?: JsonObject;
}
