/**
 * `client.audio`.
 * @module
 */
import type { CallContext } from "./call_context.ts";
import { Speech } from "./speech.ts";

/** Sound. */
export class Audio {
  /** Text to speech. */
  readonly speech: Speech;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.speech = new Speech(context);
  }
}
