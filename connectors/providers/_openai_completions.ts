/**
 * Responses of OpenAI's text completions, as received and translated to chat.
 *
 * Source: OpenAI REST API reference, document version 2.3.0: `POST /completions`.
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk, FinishReason, JsonObject } from "../../src/contracts/openai.ts";
import type { CompletionChunk, CompletionResponse } from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { isObject } from "../../src/util/is_object.ts";
import { toText } from "../../src/util/to_text.ts";
import { parseObject, readBytes, throwIfError } from "./_http.ts";
import { ChunkStream } from "./_openai_stream.ts";
import type { NativeReading } from "./_openai_vendor.ts";
import { checkCompletion } from "./_openai_wire.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/**
 * Reads a complete response.
 *
 * @throws {UpstreamError} If it is an error, or has no choices.
 */
export async function readComplete(
  response: UpstreamResponse,
  { readBilled }: Pick<NativeReading, "readBilled"> = {},
): Promise<CompletionResponse> {
  const bytes = await readBytes(response);
  const parsed = parseObject(decoder.decode(bytes));
  const others = { body: toLegacyCompletion(parsed), billed: readBilled?.(parsed) };
  return hasTexts(parsed) ? { ...others, native: bytes } : others;
}

/** Whether every choice has text: some servers answer with null, or as for a chat. */
function hasTexts({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && choices.every((choice) => typeof Object(choice).text === "string");
}

/**
 * Reads a streaming response.
 *
 * @param opening The response, once its head has been received.
 * @param reading How it is read.
 * @throws {UpstreamError} For an error event, or if the stream ends before the response is complete.
 */
export function readEvents(
  opening: Promise<UpstreamResponse>,
  { readBilled, reportComplete, ...defaults }: NativeReading,
): AsyncIterable<CompletionChunk> {
  return new ChunkStream(opening, {
    readComplete: toLegacyCompletion,
    parse(data) {
      const event = parseObject(data);
      throwIfError(event);
      return toLegacyChunk(event);
    },
    toChunk: (value, { data }) => ({
      value,
      native: `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`,
      billed: value.usage ? readBilled?.(value) : undefined,
    }),
    defaults,
    ...(reportComplete === undefined ? {} : { reportComplete }),
  });
}

function toLegacyCompletion(body: JsonObject): ChatCompletion {
  const { choices, ...others } = checkCompletion(body) as unknown as JsonObject;
  return {
    ...others,
    object: "chat.completion",
    choices: toLegacyChoices(choices).map(({ index, text, logprobs, reason }) => ({
      index,
      message: { role: "assistant", content: text, refusal: null },
      finish_reason: reason ?? "stop",
      logprobs,
    })),
  } as unknown as ChatCompletion;
}

function toLegacyChunk({ choices, ...event }: JsonObject): ChatCompletionChunk {
  return {
    ...event,
    object: "chat.completion.chunk",
    choices: toLegacyChoices(choices).map(({ index, text, logprobs, reason }) => ({
      index,
      delta: { content: text },
      finish_reason: reason,
      logprobs,
    })),
  } as unknown as ChatCompletionChunk;
}

function toLegacyChoices(choices: unknown) {
  return (Array.isArray(choices) ? choices : []).filter(isObject).map((choice, position) => ({
    index: typeof choice.index === "number" ? choice.index : position,
    text: toText(choice.text ?? Object(choice.message).content),
    logprobs: mergeLogprobs(choice.logprobs),
    reason: (choice.finish_reason ?? null) as FinishReason | null,
  }));
}

/** Converts the parallel arrays of the legacy format to one list of tokens. */
function mergeLogprobs(logprobs: unknown): JsonObject | null {
  if (!isObject(logprobs)) return null;
  const [tokens = [], values = [], tops = []] = ["tokens", "token_logprobs", "top_logprobs"]
    .map((name) => Array.isArray(logprobs[name]) ? logprobs[name] : []);
  const content = tokens.map((token, index) => ({
    token,
    logprob: values[index] ?? null,
    top_logprobs: Object.entries(Object(tops[index])).map(([token, logprob]) => ({ token, logprob })),
  }));
  return { content };
}
