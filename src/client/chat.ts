/**
 * `client.chat.completions`.
 * @module
 */
import type { ChatParams } from "../contracts/params.ts";
import type { ChatCompletion, ChatCompletionRequest } from "../contracts/openai.ts";
import { chat } from "../pipeline/operations/chat.ts";
import { call, wholeOf } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";
import { ChatStream } from "./stream.ts";

/** `client.chat`. */
export class Chat {
  /** Chat completions. */
  readonly completions: Completions;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.completions = new Completions(context);
  }
}

/** Chat completions. */
export class Completions {
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
   * Asks for a streamed answer.
   *
   * @param request OpenAI's chat request with `stream: true`; without `model` it goes to the client's pool.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   */
  create(request: ChatParams & { stream: true }, settings?: CallSettings): Promise<ChatStream>;
  /**
   * Asks for a whole answer.
   *
   * @param request OpenAI's chat request; without `model` it goes to the client's pool.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }] });
   * console.log(answer.choices[0]?.message.content);
   * ```
   */
  create(request: ChatParams & { stream?: false | null }, settings?: CallSettings): Promise<ChatCompletion>;
  /**
   * Asks for an answer, whole or streamed.
   *
   * @param request OpenAI's chat request; without `model` it goes to the client's pool.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   */
  create(request: ChatParams, settings?: CallSettings): Promise<ChatCompletion | ChatStream>;
  create(request: ChatParams, settings: CallSettings = {}): Promise<ChatCompletion | ChatStream> {
    return call<ChatCompletionRequest, ChatCompletion, ChatCompletion | ChatStream>(this.#context, {
      operation: chat,
      request,
      settings,
      resultOf: (answer) =>
        answer.kind === "stream" ? new ChatStream(answer.stream, answer.requestId) : wholeOf(answer).body,
    });
  }
}
