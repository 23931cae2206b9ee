/**
 * `client.audio.transcriptions` and `client.audio.translations`.
 * @module
 */
import type { Transcription, TranscriptionFields } from "../contracts/audio.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { call, wholeOf } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import type { FileInput } from "./files_of.ts";
import type { CallSettings } from "./options.ts";

/** A request for a transcript or a translation. */
export interface TranscriptionRequest extends TranscriptionFields {
  /** The sound: a `File`, `Blob`, `Response`, bytes, or a stream such as `fs.createReadStream(path)`. */
  file: FileInput;
}

/** A request whose response is a string. */
export interface TextTranscriptionRequest extends TranscriptionRequest {
  /** Plain text, or subtitles. */
  response_format: "text" | "srt" | "vtt";
}

/** Speech to text. */
abstract class SpeechToText {
  readonly #context: CallContext;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /** Imports the operation: a page loads the code of those that it uses. */
  protected abstract load(): Promise<CheckedOperation<TranscriptionFields, Transcription>>;

  /**
   * Asks for a text of a sound.
   *
   * @param request OpenAI's request; without `model` it goes to the client's pool for speech to text.
   * @param settings Signal, time limit (ms), session.
   * @returns A string for the formats `text`, `srt` and `vtt`, else an object with `text`.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const { text } = await client.audio.transcriptions.create({ file: new File([bytes], "speech.mp3") });
   * ```
   */
  create(request: TextTranscriptionRequest, settings?: CallSettings): Promise<string>;
  create(request: TranscriptionRequest, settings?: CallSettings): Promise<Transcription>;
  async create(
    { file, ...request }: TranscriptionRequest,
    settings: CallSettings = {},
  ): Promise<Transcription | string> {
    const [operation, { filesOf }] = await Promise.all([this.load(), import("./files_of.ts")]);
    const files = await filesOf("file", file);
    return await call<TranscriptionFields, Transcription, Transcription | string>(this.#context, {
      operation,
      request,
      files,
      settings,
      resultOf: (answer) => {
        const { body, content } = wholeOf(answer);
        return content === undefined ? body : new TextDecoder().decode(content.bytes as Uint8Array);
      },
    });
  }
}

/** Speech to text, in the language that is spoken. */
export class Transcriptions extends SpeechToText {
  protected async load(): Promise<CheckedOperation<TranscriptionFields, Transcription>> {
    return (await import("../pipeline/operations/transcription.ts")).transcription;
  }
}

/** Speech to text in English. */
export class Translations extends SpeechToText {
  protected async load(): Promise<CheckedOperation<TranscriptionFields, Transcription>> {
    return (await import("../pipeline/operations/audio_translation.ts")).audioTranslation;
  }
}
