/**
 * `client.images` and `client.audio`.
 * @module
 */
import type { SpeechRequest, Transcription, TranscriptionFields } from "../contracts/audio.ts";
import type { ImageEditRequest, ImageRequest, ImagesResponse } from "../contracts/images.ts";
import type { ImageParams, Params } from "../contracts/params.ts";
import type { ByteStream } from "../pipeline/content_stream.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { audioTranslation } from "../pipeline/operations/audio_translation.ts";
import { image } from "../pipeline/operations/image.ts";
import { imageEdit } from "../pipeline/operations/image_edit.ts";
import { speech } from "../pipeline/operations/speech.ts";
import { transcription } from "../pipeline/operations/transcription.ts";
import { toReadable } from "../util/bytes.ts";
import { call, requireNonStreaming } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import { callNonStreaming } from "./call_non_streaming.ts";
import type { CallSettings } from "./options.ts";
import { type FileInput, readFiles } from "./read_files.ts";

/** Generates and edits images. */
export class Images {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Generates images from a prompt.
   *
   * @param request OpenAI's request. Without `model`, the client's pool for image generation is used. `response_format`
   * is honored whichever model responds.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("text-to-image");
   * const { data } = await client.images.generate({ prompt: "a red bicycle", response_format: "b64_json" });
   * console.log(data[0]?.b64_json?.length);
   * ```
   */
  generate(request: ImageParams<ImageRequest>, settings?: CallSettings): Promise<ImagesResponse> {
    return callNonStreaming(this.#context, {
      operation: image,
      request: withModel(request),
      settings,
    });
  }

  /**
   * Edits images. Files are read once; a retry or a failover sends the same bytes. Middleware receives the request
   * without its files.
   *
   * @param request OpenAI's request. Without `model`, the client's pool for image editing is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("image-editing");
   * const image = new File([await Deno.readFile("wall.png")], "wall.png", { type: "image/png" });
   * const { data } = await client.images.edit({ image, prompt: "paint the wall green" });
   * ```
   */
  async edit(request: ImageParams<ImageEditRequest>, settings?: CallSettings): Promise<ImagesResponse> {
    const { image: images, mask, ...fields } = request;
    const files = [...await readFiles("image", images), ...await readFiles("mask", mask)];
    return callNonStreaming(this.#context, {
      operation: imageEdit,
      request: withModel(fields),
      files,
      settings,
    });
  }
}

function withModel<Request extends { readonly model?: string | null }>({ model, ...fields }: Request): object {
  return model === null || model === undefined ? fields : { ...fields, model };
}

/** Synthesizes speech. */
export class Speech {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Synthesizes speech from text.
   *
   * @param request OpenAI's speech request. Without `model`, the client's pool for text to speech is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @returns A response whose body streams the audio; its `content-type` is the audio format.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason. Reading the body throws a
   * `StreamInterruptedError` when the provider fails midway.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("text-to-speech");
   * const speech = await client.audio.speech.create({ input: "Hello", voice: "alloy" });
   * await Deno.writeFile("hello.mp3", speech.body!);
   * ```
   */
  async create(request: Params<SpeechRequest>, settings: CallSettings = {}): Promise<Response> {
    return await call(this.#context, {
      operation: speech,
      request,
      settings,
      toResult: (result) => {
        if (result.kind !== "content") throw new TypeError("The operation has no content");
        return toSpeechResponse(result.stream);
      },
    });
  }
}

function toSpeechResponse(stream: ByteStream): Response {
  return new Response(toReadable(stream), { headers: { "content-type": stream.type } });
}

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

/** Transcribes audio in its own language. */
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
