/**
 * `client.audio`.
 * @module
 */
import type { CallContext } from "./call_context.ts";
import { type Lazy, lazy } from "./lazy.ts";
import type { Speech } from "./speech.ts";
import type { Transcriptions, Translations } from "./transcriptions.ts";

/** Speech synthesis, transcription and translation of audio. */
export interface Audio {
  /** Text to speech. */
  readonly speech: Lazy<Speech>;
  /** Speech to text. */
  readonly transcriptions: Lazy<Transcriptions>;
  /** Speech to text in English. */
  readonly translations: Lazy<Translations>;
}

/** Creates `client.audio`. */
export function createAudio(context: CallContext): Audio {
  const load = () => import("./transcriptions.ts");
  return {
    speech: lazy(async () => new (await import("./speech.ts")).Speech(context), "create"),
    transcriptions: lazy(async () => new (await load()).Transcriptions(context), "create"),
    translations: lazy(async () => new (await load()).Translations(context), "create"),
  };
}
