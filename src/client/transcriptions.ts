/**
 * `client.audio.transcriptions` and `client.audio.translations`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { Transcription, TranscriptionFields } from "../contracts/audio.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { audioTranslation } from "../pipeline/operations/audio_translation.ts";
import { transcription } from "../pipeline/operations/transcription.ts";
import { call, requireNonStreaming } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import { type FileInput, readFiles } from "./read_files.ts";
import type { CallSettings } from "./options.ts";

/** A request for a transcription or a translation of audio. */
export interface TranscriptionRequest extends TranscriptionFields {
  /** The audio: a `File`, `Blob`, `Response`, bytes, or a stream such as `fs.createReadStream(path)`. */
  file: FileInput;
}

/** A request whose response is a string. */
export interface TextTranscriptionRequest extends TranscriptionRequest {
  /** Plain text or subtitles. */
  response_format: "text" | "srt" | "vtt";
}

/** Transcribes audio in the language spoken. */
export class Transcriptions {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Transcribes audio.
   *
   * @param request OpenAI's request. Without `model`, the client's pool for speech to text is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @returns A string for the formats `text`, `srt` and `vtt`, else an object with `text`.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("speech-to-text");
   * const file = new File([await Deno.readFile("speech.mp3")], "speech.mp3");
   * const { text } = await client.audio.transcriptions.create({ file });
   * ```
   */
  create(request: Params<TextTranscriptionRequest>, settings?: CallSettings): Promise<string>;
  /** Transcribes audio, for formats whose response is an object. */
  create(request: Params<TranscriptionRequest>, settings?: CallSettings): Promise<Transcription>;
  async create(request: Params<TranscriptionRequest>, settings: CallSettings = {}): Promise<Transcription | string> {
    return await transcribe(transcription, { context: this.#context, request, settings });
  }
}

/** Translates audio into English text. */
export class Translations {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Translates audio into English text.
   *
   * @param request OpenAI's request. Without `model`, the client's pool for speech to text is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @returns A string for the formats `text`, `srt` and `vtt`, else an object with `text`.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("speech-to-text");
   * const file = new File([await Deno.readFile("rede.mp3")], "rede.mp3");
   * const { text } = await client.audio.translations.create({ file });
   * ```
   */
  create(request: Params<TextTranscriptionRequest>, settings?: CallSettings): Promise<string>;
  /** Translates audio, for formats whose response is an object. */
  create(request: Params<TranscriptionRequest>, settings?: CallSettings): Promise<Transcription>;
  async create(request: Params<TranscriptionRequest>, settings: CallSettings = {}): Promise<Transcription | string> {
    return await transcribe(audioTranslation, { context: this.#context, request, settings });
  }
}

async function transcribe(
  operation: CheckedOperation<TranscriptionFields, Transcription>,
  { context, request: { file, ...request }, settings }: {
    readonly context: CallContext;
    readonly request: Params<TranscriptionRequest>;
    readonly settings: CallSettings;
  },
): Promise<Transcription | string> {
  return await call<TranscriptionFields, Transcription, Transcription | string>(context, {
    operation,
    request,
    files: await readFiles("file", file),
    settings,
    toResult: (result) => {
      const { body, content } = requireNonStreaming(result);
      return content === undefined ? body : new TextDecoder().decode(content.bytes as Uint8Array);
    },
  });
}
