/**
 * The dialect of `POST /v1/completions`: texts that go on, from before there were chats.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { Translation } from "../dialect.ts";
import { joined, textCompletionOf } from "./_answer.ts";
import { TextEvents } from "./_events.ts";
import { chatRequestOf, promptsOf, type TextForm } from "./_request.ts";

/** A request in chat's words: each prompt is a chat of its own. */
interface TextTranslation {
  /** At least one. */
  readonly chats: readonly (Translation & { readonly form: TextForm })[];
  /** The body of several whole answers, in order. */
  whole(completions: readonly JsonObject[]): JsonObject;
  /** The way back for several streamed ones. */
  events(): TextEvents;
}

/** What providers that take such requests call them. */
export const completionsDialect = { name: "completions" } as const;

/**
 * Translates a request.
 *
 * @param value Parsed, of any shape.
 * @throws {UnsupportedRequestError} For what is malformed.
 */
export function translateCompletion(value: unknown): TextTranslation {
  const { body, prompts } = promptsOf(value);
  const isOne = prompts.length === 1;
  const chats = prompts.map((prompt, index) => chatOf(body, { prompt, index, isOne }));
  return { chats, whole: joined, events: () => new TextEvents(chats[0]!.form) };
}

/** Sampling that a model may refuse. */
const sampling = ["temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias", "seed"];

function chatOf(
  body: JsonObject,
  asked: { prompt: string; index: number; isOne: boolean },
): TextTranslation["chats"][number] {
  const { chat, form, dropped, unsaid } = chatRequestOf(body, asked);
  return {
    chat,
    form,
    dropped,
    native: {
      edits: (model, inChat) => ({
        ...Object.fromEntries(sampling.filter((name) => name in inChat).map((name) => [name, inChat[name]])),
        model,
        // several are written by us, with what their texts begin with
        ...(asked.isOne ? {} : { prompt: asked.prompt, ...(form.echo === undefined ? {} : { echo: undefined }) }),
        ...(body.stream === true ? { stream_options: { include_usage: true } } : {}),
      }),
      headers: {},
      ...(unsaid === undefined ? {} : { only: unsaid }),
    },
    whole: (completion) => textCompletionOf(completion, form),
    events: () => new TextEvents(form),
  };
}
