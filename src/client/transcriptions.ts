/**
 * `client.audio.transcriptions` and `client.audio.translations`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { Transcription, TranscriptionFields } from "../contracts/audio.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { audioTranslation } from "../pipeline/operations/audio_translation.ts";
import { transcription } from "../pipeline/operations/transcription.ts";
import { call, wholeOf } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import { type FileInput, filesOf } from "./files_of.ts";
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

/** Speech to text, in the language that is spoken. */
export class Transcriptions {
  readonly #context: CallContext;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.#context = context;
  }

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
  create(request: Params<TextTranscriptionRequest>, settings?: CallSettings): Promise<string>;
  /** The same, for formats whose response is an object. */
  create(request: Params<TranscriptionRequest>, settings?: CallSettings): Promise<Transcription>;
  async create(request: Params<TranscriptionRequest>, settings: CallSettings = {}): Promise<Transcription | string> {
    return await textOf(transcription, { context: this.#context, request, settings });
  }
}

/** Speech to text in English. */
export class Translations {
  readonly #context: CallContext;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Asks for an English text of a sound.
   *
   * @param request OpenAI's request; without `model` it goes to the client's pool for speech to text.
   * @param settings Signal, time limit (ms), session.
   * @returns A string for the formats `text`, `srt` and `vtt`, else an object with `text`.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const { text } = await client.audio.translations.create({ file: new File([bytes], "rede.mp3") });
   * ```
   */
  create(request: Params<TextTranscriptionRequest>, settings?: CallSettings): Promise<string>;
  /** The same, for formats whose response is an object. */
  create(request: Params<TranscriptionRequest>, settings?: CallSettings): Promise<Transcription>;
  async create(request: Params<TranscriptionRequest>, settings: CallSettings = {}): Promise<Transcription | string> {
    return await textOf(audioTranslation, { context: this.#context, request, settings });
  }
}

interface SoundCall {
  readonly context: CallContext;
  readonly request: Params<TranscriptionRequest>;
  readonly settings: CallSettings;
}

async function textOf(
  operation: CheckedOperation<TranscriptionFields, Transcription>,
  { context, request: { file, ...request }, settings }: SoundCall,
): Promise<Transcription | string> {
  return await call<TranscriptionFields, Transcription, Transcription | string>(context, {
    operation,
    request,
    files: await filesOf("file", file),
    settings,
    resultOf: (answer) => {
      const { body, content } = wholeOf(answer);
      return content === undefined ? body : new TextDecoder().decode(content.bytes as Uint8Array);
    },
  });
}
