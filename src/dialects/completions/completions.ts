/**
 * The dialect of `POST /v1/completions`: legacy text completions.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { Translation } from "../dialect.ts";
import { formatTextCompletion, joinCompletions } from "./_answer.ts";
import { TextEvents } from "./_events.ts";
import { createPromptRequest, extractPrompts, type TextForm } from "./_request.ts";

/** A translated request: each prompt becomes a chat request. */
interface TextTranslation {
  /** The chat requests; at least one. */
  readonly chats: readonly (Translation & { readonly form: TextForm })[];
  /** Merges the bodies of several complete responses, in order. */
  join(completions: readonly JsonObject[]): JsonObject;
  /** Creates a translator for several streaming responses. */
  events(): TextEvents;
}

/** The name of the dialect in `Provider.dialects`. */
export const completionsDialect = { name: "completions" } as const;

/**
 * Converts a request.
 *
 * @param value The parsed body, unvalidated.
 * @throws {UnsupportedRequestError} If the body is malformed.
 */
export function translateCompletion(value: unknown): TextTranslation {
  const { body, prompts } = extractPrompts(value);
  const isOne = prompts.length === 1;
  const chats = prompts.map((prompt, index) => createPromptChat(body, { prompt, index, isOne }));
  return { chats, join: joinCompletions, events: () => new TextEvents(chats[0]!.form) };
}

function pickOptions(inChat: Readonly<Record<string, unknown>>): JsonObject {
  return "stream_options" in inChat ? { stream_options: inChat.stream_options } : {};
}

/** Sampling parameters that a model may reject. */
const sampling = ["temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias", "seed"];

function createPromptChat(
  body: JsonObject,
  options: { prompt: string; index: number; isOne: boolean },
): TextTranslation["chats"][number] {
  const { chat, form, dropped, nativeOnly } = createPromptRequest(body, options);
  return {
    chat,
    form,
    dropped,
    native: {
      edits: (model, inChat) => ({
        ...Object.fromEntries(sampling.filter((name) => name in inChat).map((name) => [name, inChat[name]])),
        model,
        // several prompts are sent as separate requests, and echoed text is prepended here
        ...(options.isOne ? {} : { prompt: options.prompt, ...(form.echo === undefined ? {} : { echo: undefined }) }),
        // a model may reject it: then it is undefined in chat
        ...(body.stream === true ? { stream_options: { include_usage: true }, ...pickOptions(inChat) } : {}),
      }),
      adds: body.stream === true && !("stream_options" in body) ? ["stream_options"] : [],
      headers: {},
      only: nativeOnly,
    },
    toResponse: (completion) => formatTextCompletion(completion, form),
    events: () => new TextEvents(form),
  };
}
