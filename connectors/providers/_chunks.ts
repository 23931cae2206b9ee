/**
 * Support for servers that return a complete response to a streaming request.
 * @module
 */
import type { ChatCompletion } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";

/**
 * Converts a complete response to a stream of chunks.
 *
 * @param answer The response, in OpenAI's shape.
 */
export function* splitIntoChunks(answer: ChatCompletion): Generator<CompletionChunk> {
  const head = {
    id: answer.id,
    object: "chat.completion.chunk",
    created: answer.created,
    model: answer.model,
  } as const;
  for (const { index, message, finish_reason, logprobs } of answer.choices) {
    const { tool_calls, ...rest } = message;
    const delta = tool_calls === undefined
      ? rest
      : { ...rest, tool_calls: tool_calls.map((call, position) => ({ index: position, ...call })) };
    yield { value: { ...head, choices: [{ index, delta, finish_reason: null, logprobs: logprobs ?? null }] } };
    yield {
      value: { ...head, choices: [{ index, delta: {}, finish_reason: finish_reason ?? "stop", logprobs: null }] },
    };
  }
  if (answer.usage !== undefined) yield { value: { ...head, choices: [], usage: answer.usage } };
}
