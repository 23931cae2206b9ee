/**
 * A provider implemented by the program.
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk, CompletionChunk, Provider } from "../../mod.ts";

/** Returns a chat completion with a text. */
export function createResponse(text: string): ChatCompletion {
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

/** Returns a chunk that adds a text, or ends the stream. */
export function createChunk(content: string | undefined): CompletionChunk {
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
 * A provider that responds with `Custom`, in two chunks when streamed.
 *
 * @param overrides Members to replace.
 */
export function customProvider(overrides: Partial<Provider> = {}): Provider {
  return {
    id: "custom",
    complete: () => Promise.resolve({ body: createResponse("Custom") }),
    async *stream() {
      yield await Promise.resolve(createChunk("Cus"));
      yield createChunk("tom");
      yield createChunk(undefined);
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
