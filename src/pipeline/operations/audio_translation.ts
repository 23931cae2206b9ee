/**
 * The operation `audio-translation`: speech in any language to English text.
 * @module
 */
import type { Transcription, TranscriptionFields } from "../../contracts/audio.ts";
import type { CheckedOperation } from "../operation.ts";
import { transcribing } from "./_transcribing.ts";

/** Speech to text in English. */
export const audioTranslation: CheckedOperation<TranscriptionFields, Transcription> = /* @__PURE__ */ transcribing(
  "audio-translation",
);
