/**
 * A provider that a program brings along, as well-behaved or as broken as a test wants.
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk, CompletionChunk, Provider } from "../../mod.ts";

/** A whole answer that says a text. */
export function answerOf(text: string): ChatCompletion {
  return {
    id: "custom",
    object: "chat.completion",
    created: 0,
    model: "custom",
    choices: [{
      index: 0,
      message: { role: "assistant", content: text, refusal: null },
      finish_reason: "stop",
      logprobs: null,
    }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };
}

/** An event that adds a text, or ends the answer. */
export function chunkOf(content: string | undefined): CompletionChunk {
  const delta = content === undefined ? {} : { content };
  const choice = { index: 0, delta, finish_reason: content === undefined ? "stop" as const : null };
  const value: ChatCompletionChunk = {
    id: "custom",
    object: "chat.completion.chunk",
    created: 0,
    model: "custom",
    choices: [choice],
  };
  return { value };
}

/**
 * A provider that answers `Custom`, in two pieces when streamed.
 *
 * @param overrides What it does differently.
 */
export function customProvider(overrides: Partial<Provider> = {}): Provider {
  return {
    id: "custom",
    complete: () => Promise.resolve({ body: answerOf("Custom") }),
    async *stream() {
      yield await Promise.resolve(chunkOf("Cus"));
      yield chunkOf("tom");
      yield chunkOf(undefined);
    },
    getCapabilities: () => [],
    supports: () => true,
    listModels: () => Promise.resolve([]),
    getModelInfo: () => Promise.resolve(undefined),
    checkQuota: () => Promise.resolve(undefined),
    getRateLimits: () => undefined,
    getPricing: () => undefined,
    reportUsage: () => {},
    classifyError: () => "server",
    isRetryable: () => false,
    ...overrides,
  };
}
