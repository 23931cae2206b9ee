/**
 * The operation `transcription`: speech to text.
 * @module
 */
import type { Transcription, TranscriptionFields } from "../../contracts/audio.ts";
import type { CheckedOperation } from "../operation.ts";
import { transcribing } from "./_transcribing.ts";

/** Speech to text, in the language that is spoken. */
export const transcription: CheckedOperation<TranscriptionFields, Transcription> = /* @__PURE__ */ transcribing(
  "transcription",
);
