/**
 * The dialect of `POST /v1/completions`: legacy text completions.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import {
  bodyChecker,
  checkOptional,
  invalid,
  isNonNegativeInteger,
  missing,
  wrongType,
} from "../../pipeline/check_body.ts";
import type { Translation } from "../dialect.ts";
import { NativeOnly } from "../native_only.ts";
import { formatTextCompletion, joinCompletions, TextEvents, type TextForm } from "./_response.ts";

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

/** Members that chat names differently or does not support. */
const own: readonly string[] = ["prompt", "suffix", "echo", "best_of", "logprobs"];

const checkMembers = bodyChecker([
  ...own,
  ...["stream", "stream_options", "max_tokens", "temperature", "top_p", "n", "stop", "seed", "logit_bias"],
  ...["presence_penalty", "frequency_penalty"],
]);

/** Maximum number of prompts; each becomes a request of its own. */
const maxPrompts = 100;

/**
 * Validates a request and extracts its prompts.
 *
 * @param value The parsed body, unvalidated.
 * @returns The validated body, and at least one prompt.
 * @throws {UnsupportedRequestError} If the body is malformed.
 */
function extractPrompts(value: unknown): { readonly body: JsonObject; readonly prompts: readonly string[] } {
  const body: JsonObject = checkMembers(value);
  const { prompt } = body;
  if (prompt === undefined || prompt === null) throw missing("prompt");
  const prompts: unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  if (prompts.length === 0) throw invalid('"prompt" must contain at least one string', "prompt");
  if (prompts.length > maxPrompts) throw invalid(`"prompt" must not contain more than ${maxPrompts} strings`, "prompt");
  prompts.forEach((text, index) => {
    if (typeof text === "string") return;
    const param = Array.isArray(prompt) ? `prompt[${index}]` : "prompt";
    if (typeof text !== "number" && !Array.isArray(text)) throw wrongType(param, "a string", text);
    throw invalid('"prompt" has tokens, which belong to one model\'s vocabulary: send text', "prompt");
  });
  return { body, prompts: prompts as string[] };
}

/**
 * Converts the request for one prompt.
 *
 * @param body The validated body.
 * @param index Index of the prompt in the request.
 * @returns The chat request; `nativeOnly` is the error if no model with native support is eligible.
 * @throws {UnsupportedRequestError} If the body is malformed.
 */
function createPromptRequest(
  body: JsonObject,
  { prompt, index }: { prompt: string; index: number },
) {
  const { suffix, echo, best_of: best, logprobs, n, stream_options: options, ...others } = body;
  checkOptional(body, { name: "suffix", expected: "a string", isValid: (value) => typeof value === "string" });
  checkOptional(body, { name: "echo", expected: "a boolean", isValid: (value) => typeof value === "boolean" });
  checkOptional(body, { name: "best_of", expected: "an integer", isValid: isNonNegativeInteger });
  checkOptional(body, { name: "logprobs", expected: "an integer", isValid: isNonNegativeInteger });
  checkOptional(body, { name: "n", expected: "an integer", isValid: isNonNegativeInteger });
  const count = typeof n === "number" ? n : undefined;
  const { prompt: _, ...supported } = others;
  const chat = {
    ...supported,
    messages: [{ role: "user", content: prompt }],
    ...(count === undefined ? {} : { n: count }),
    ...(typeof logprobs === "number" ? { logprobs: true, ...(logprobs > 0 ? { top_logprobs: logprobs } : {}) } : {}),
  };
  const hasUsage = (options as JsonObject | null | undefined)?.include_usage === true;
  // log probabilities of the prompt's own tokens
  const wantsOwnTokens = echo === true && typeof logprobs === "number";
  const nativeOnly = new NativeOnly();
  if (typeof suffix === "string" && suffix !== "") nativeOnly.add("suffix");
  if (wantsOwnTokens) nativeOnly.add("echo");
  return {
    chat: chat as unknown as ChatCompletionRequest,
    form: { echo: echo === true && !wantsOwnTokens ? prompt : undefined, hasUsage, firstIndex: index * (count ?? 1) },
    dropped: typeof best === "number" && best > (count ?? 1) ? ["best_of"] : [],
    nativeOnly: nativeOnly.error,
  };
}
