/**
 * `client.audio`.
 * @module
 */
import type { CallContext } from "./call_context.ts";
import { Speech } from "./speech.ts";
import { Transcriptions, Translations } from "./transcriptions.ts";

/** Sound. */
export class Audio {
  /** Text to speech. */
  readonly speech: Speech;
  /** Speech to text. */
  readonly transcriptions: Transcriptions;
  /** Speech to text in English. */
  readonly translations: Translations;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.speech = new Speech(context);
    this.transcriptions = new Transcriptions(context);
    this.translations = new Translations(context);
  }
}
