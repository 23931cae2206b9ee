/**
 * Resources of a client, such as `client.chat` and `client.audio`, whose code is imported at their first call, which keeps
 * starts short and pages small.
 * @module
 */
import type { ChatCompletion } from "../contracts/openai.ts";
import type { ChatParams } from "../contracts/params.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";
import type { Speech } from "./media.ts";
import type { ChatStream } from "./stream.ts";
import type { Transcriptions, Translations } from "./media.ts";

/** The methods of a resource. */
export type Lazy<Resource> = Pick<Resource, keyof Resource>;

/**
 * Makes a resource whose methods import its code when they are called.
 *
 * @param load Imports the resource.
 * @param names The names of its methods.
 */
export function lazy<Resource>(load: () => Promise<Resource>, ...names: (keyof Resource)[]): Lazy<Resource> {
  const createLazyCall = (name: keyof Resource) => async (...args: unknown[]) =>
    await (await load() as Record<keyof Resource, (...args: unknown[]) => unknown>)[name](...args);
  return Object.fromEntries(names.map((name) => [name, createLazyCall(name)])) as unknown as Lazy<Resource>;
}

/** Speech synthesis, transcription and translation of audio. */
export interface Audio {
  /** Text to speech. */
  readonly speech: Lazy<Speech>;
  /** Speech to text. */
  readonly transcriptions: Lazy<Transcriptions>;
  /** Speech to text in English. */
  readonly translations: Lazy<Translations>;
}

/** Creates `client.audio`. */
export function createAudio(context: CallContext): Audio {
  const media = () => import("./media.ts");
  return {
    speech: lazy(async () => new (await media()).Speech(context), "create"),
    transcriptions: lazy(async () => new (await media()).Transcriptions(context), "create"),
    translations: lazy(async () => new (await media()).Translations(context), "create"),
  };
}

type ChatCall = typeof import("./chat_call.ts");

let loaded: ChatCall | undefined;

/** Imported with the first call, which keeps starts short and pages small. */
async function load(): Promise<ChatCall> {
  return loaded = await import("./chat_call.ts");
}

/** Chat completions: `client.chat`. */
export class Chat {
  /** Chat completions. */
  readonly completions: Completions;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.completions = new Completions(context);
  }
}

/** Creates chat completions, streaming or not. */
export class Completions {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Creates a streamed chat completion. The promise resolves when the first content has arrived.
   *
   * @param request OpenAI's chat request with `stream: true`. Without `model`, the client's pool is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("chat-completion");
   * const messages = [{ role: "user", content: "Hello" }] as const;
   * const stream = await client.chat.completions.create({ messages, stream: true });
   * for await (const chunk of stream) console.log(chunk.choices[0]?.delta.content ?? "");
   * ```
   */
  create(request: ChatParams & { stream: true }, settings?: CallSettings): Promise<ChatStream>;
  /**
   * Creates a chat completion and returns it complete.
   *
   * @param request OpenAI's chat request. Without `model`, the client's pool is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("chat-completion");
   * const completion = await client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }] });
   * console.log(completion.choices[0]?.message.content);
   * ```
   */
  create(request: ChatParams & { stream?: false | null }, settings?: CallSettings): Promise<ChatCompletion>;
  /**
   * Creates a chat completion, streaming or not depending on `stream`.
   *
   * @param request OpenAI's chat request. Without `model`, the client's pool is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   */
  create(request: ChatParams, settings?: CallSettings): Promise<ChatCompletion | ChatStream>;
  create(request: ChatParams, settings: CallSettings = {}): Promise<ChatCompletion | ChatStream> {
    const chat = { request, settings };
    return loaded === undefined
      ? load().then(({ callChat }) => callChat(this.#context, chat))
      : loaded.callChat(this.#context, chat);
  }
}
