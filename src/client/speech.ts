/**
 * `client.audio.speech`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { SpeechRequest } from "../contracts/audio.ts";
import type { ContentStream } from "../pipeline/content_stream.ts";
import { speech } from "../pipeline/operations/speech.ts";
import { toReadable } from "../util/bytes.ts";
import { call } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

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

function toSpeechResponse(stream: ContentStream): Response {
  return new Response(toReadable(stream), { headers: { "content-type": stream.type } });
}
