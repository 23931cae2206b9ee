/**
 * Audio requests and responses: OpenAI's shapes, and the types that providers receive and return in `extra`.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { JsonObject, RequestBody } from "./openai.ts";

/** The body of `POST /v1/audio/speech`. */
export interface SpeechRequest extends RequestBody {
  /** The text to speak. */
  input: string;
  /** The voice: a name that `models.<name>.voices` maps to one of the vendor's, or the id of a custom voice. */
  voice: string | { id: string };
  /** Instructions for the delivery, such as tone, on models that support them. */
  instructions?: string | null;
  /** Audio format: `mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`. @default {"mp3"} */
  response_format?: string | null;
  /** Speed factor, 0.25 to 4. @default {1} */
  speed?: number | null;
  /**
   * Raw audio bytes, or server-sent events with base64 chunks, which only models with stream delivery serve.
   * @default {"audio"}
   */
  stream_format?: "audio" | "sse" | null;
  /**
   * Whether raw audio is requested as a stream: from a model with stream delivery, limited by the time without data
   * instead of the total time. In both cases the audio is passed on as it arrives. @default {false}
   */
  stream?: boolean | null;
}

/** The text fields of `POST /v1/audio/transcriptions`; the audio is a file of the form. */
export interface TranscriptionFields extends RequestBody {
  /** Language of the audio, ISO 639-1. */
  language?: string | null;
  /** Text that precedes the audio, or vocabulary that occurs in it. */
  prompt?: string | null;
  /** `json`, `text`, `srt`, `vtt`, `verbose_json`, or one of the vendor's own. @default {"json"} */
  response_format?: string | null;
  /** Sampling temperature, 0 to 1. */
  temperature?: number | null;
  /** Granularities of the timestamps in `verbose_json`: `word`, `segment`. */
  timestamp_granularities?: string[] | null;
}

/** The billed usage of a transcription: seconds of audio, or tokens. */
export type TranscriptionUsage =
  | { type: "duration"; seconds: number; [key: string]: unknown }
  | { type: "tokens"; input_tokens: number; output_tokens: number; total_tokens: number; [key: string]: unknown };

/** A transcript. Fields beyond `text` depend on the response format; `json` has `text` only. */
export interface Transcription {
  /** The transcribed text. */
  text: string;
  /** Language of the audio; `verbose_json` only. */
  language?: string;
  /** Duration of the audio, seconds; `verbose_json` only. */
  duration?: number;
  /** Segments with timestamps; `verbose_json` only. */
  segments?: TranscriptSegment[];
  /** Words with timestamps, seconds; `verbose_json` only. */
  words?: { word: string; start: number; end: number }[];
  /** The billed usage, if the provider reported it. */
  usage?: TranscriptionUsage;
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** A segment of a transcript. Times are in seconds from the start of the audio. */
export interface TranscriptSegment {
  /** Index of the segment, from 0. */
  id: number;
  /** Start time, seconds. */
  start: number;
  /** End time, seconds. */
  end: number;
  /** The transcribed text. */
  text: string;
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** The audio part of a request: `extra` of a completion request. */
export interface AudioRequest {
  /** The text to speak, or the audio to transcribe. */
  readonly input: string | Uint8Array;
  /** The voice, by the vendor's name. */
  readonly voice?: string;
  /** Format of the audio, or of the transcript. */
  readonly format: string;
  /** The upstream model id. */
  readonly model: string;
  /** Language of the audio, if the request specifies it. */
  readonly language?: string;
}

/** The audio part of a response. A provider may return it alone, in `extra` of its completion response. */
export interface AudioResponse {
  /** The speech: complete, or a stream of chunks. */
  readonly audio?: Uint8Array | AsyncIterable<Uint8Array>;
  /** The transcript, in the requested format. */
  readonly text?: string;
  /** Duration of the audio, seconds. */
  readonly duration?: number;
  /** The billed usage, as in {@linkcode Transcription.usage}. */
  readonly usage?: JsonObject;
}
