/**
 * Streams from complete responses: of servers that return one to a streaming request, and of providers that cannot stream.
 * @module
 */
import type { ChatCompletion } from "../contracts/openai.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import type { BilledUsage } from "../contracts/usage.ts";

/**
 * Converts a complete response to a stream of chunks.
 *
 * @param completion The response, in OpenAI's shape.
 * @param billed What the vendor bills besides its usage.
 */
export function* splitIntoChunks(completion: ChatCompletion, billed?: BilledUsage): Generator<CompletionChunk> {
  const head = {
    id: completion.id,
    object: "chat.completion.chunk",
    created: completion.created,
    model: completion.model,
  } as const;
  for (const { index, message, finish_reason, logprobs } of completion.choices) {
    const { tool_calls, ...rest } = message;
    const delta = tool_calls === undefined
      ? rest
      : { ...rest, tool_calls: tool_calls.map((call, position) => ({ index: position, ...call })) };
    yield { value: { ...head, choices: [{ index, delta, finish_reason: null, logprobs: logprobs ?? null }] } };
    yield {
      value: { ...head, choices: [{ index, delta: {}, finish_reason: finish_reason ?? "stop", logprobs: null }] },
    };
  }
  const { usage, service_tier } = completion;
  const tier = service_tier === undefined ? {} : { service_tier };
  if (usage === undefined && billed === undefined) return;
  yield { value: { ...head, ...tier, choices: [], ...(usage === undefined ? {} : { usage }) }, billed };
}
