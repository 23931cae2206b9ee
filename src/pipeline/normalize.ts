/**
 * Normalizes complete chat responses, including those of providers that programs define. Their objects are not modified.
 * @module
 */
import type { ChatCompletion } from "../contracts/openai.ts";
import type { CompletionRequest, CompletionResponse, OperationRequest } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { UpstreamError } from "../errors.ts";
import { isObject } from "../util/is_object.ts";
import { createDefaults } from "../util/completion_defaults.ts";
import { normalizeCompletion } from "../util/normalize_completion.ts";

/**
 * Normalizes a complete response. One with its bytes was normalized by its connector.
 *
 * @param response The provider's response.
 * @param runtime Clock and randomness.
 * @throws {UpstreamError} `invalid_response` if it is no chat response.
 */
export function normalizeChatResponse(
  response: CompletionResponse,
  request: OperationRequest,
  runtime: Runtime,
): CompletionResponse {
  if (response.wire !== undefined || response.native !== undefined) return response;
  const body = copyParts(response.body, "message") as ChatCompletion;
  const isChanged = normalizeCompletion(body, createDefaults(request as CompletionRequest, runtime));
  return isChanged ? { ...response, body } : response;
}

/**
 * Copies the objects of a response that are modified: its choices, their messages or deltas, calls and usage.
 *
 * @param value The response or the chunk.
 * @param part The member of a choice that contains calls.
 * @throws {UpstreamError} `invalid_response` if it is no object.
 */
export function copyParts(value: unknown, part: "message" | "delta"): Record<string, unknown> {
  if (!isObject(value)) {
    throw new UpstreamError("The provider's response is not an object", { kind: "invalid_response" });
  }
  const { choices, usage } = value;
  return {
    ...value,
    ...(Array.isArray(choices) ? { choices: choices.map((choice) => copyChoice(choice, part)) } : {}),
    ...(isObject(usage) ? { usage: copyMembers(usage) } : {}),
  };
}

function copyChoice(choice: unknown, part: "message" | "delta"): unknown {
  if (!isObject(choice)) return choice;
  const message = choice[part];
  if (!isObject(message)) return { ...choice };
  const { tool_calls: calls } = message;
  const copy = Array.isArray(calls) ? { ...message, tool_calls: calls.map(copyMembers) } : { ...message };
  return { ...choice, [part]: copy };
}

/** Copies an object and the objects in it. */
function copyMembers(value: unknown): unknown {
  if (!isObject(value)) return value;
  const copy = { ...value };
  for (const name of Object.keys(copy)) if (isObject(copy[name])) copy[name] = { ...copy[name] };
  return copy;
}
