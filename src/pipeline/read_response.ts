/**
 * Reads responses of providers.
 * @module
 */
import type { CompletionRequest, CompletionResponse, ExtraResponse, OperationRequest } from "../contracts/provider.ts";
import type { ChatCompletion, ChatCompletionChunk, RequestBody } from "../contracts/openai.ts";
import type { Operation } from "./operation.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { UpstreamError } from "../errors.ts";
import { isObject } from "../util/is_object.ts";
import { createDefaults, normalizeCompletion } from "../util/normalize_completion.ts";

/** Returns a response; one that consists only of `extra` is converted. */
export function readResponse<Body extends RequestBody, Response>(
  response: CompletionResponse | ExtraResponse,
  { extra: audio }: OperationRequest,
  { bridge }: Operation<Body, Response>,
): CompletionResponse<Response> {
  const isExtra = bridge !== undefined && audio !== undefined && !("body" in response && response.body !== undefined);
  return isExtra && "extra" in response ? bridge.read(response.extra, audio) : response as CompletionResponse<Response>;
}

/** Maximum length of a model id in records, characters. */
const maxIdLength = 256;

/** Returns the model id in a response or an event; undefined if it has none. */
export function readModelId(body: unknown): string | undefined {
  const { model } = Object(body) as { readonly model?: unknown };
  return typeof model === "string" && model !== "" ? model.slice(0, maxIdLength) : undefined;
}

const contentFields = [
  "content",
  "refusal",
  "reasoning_content",
  "reasoning",
  "tool_calls",
  "function_call",
  "audio",
  "images",
];

/** Whether an event has content: text, refusal, reasoning, tool call, audio, image, or a finish reason other than `stop`. */
export function carriesContent({ choices }: ChatCompletionChunk): boolean {
  for (const { delta, finish_reason } of choices) if (hasContent(delta) || endsForAReason(finish_reason)) return true;
  return false;
}

/** Whether a complete response has no text, tool call, refusal, reasoning, audio or image, and no reason for that. */
export function isEmptyCompletion({ choices }: ChatCompletion): boolean {
  for (const { message, finish_reason } of choices) {
    if (hasContent(message) || endsForAReason(finish_reason)) return false;
  }
  return true;
}

/**
 * Whether a filter has left nothing of a response or of an event. A refusal beside that finish reason is the filter's own
 * explanation.
 *
 * @param body The response of any operation, or an event.
 */
export function isFilteredOut(body: unknown): boolean {
  const { choices } = Object(body) as { readonly choices?: unknown };
  return Array.isArray(choices) && choices.length > 0 && choices.every((choice) => {
    const { message, delta = message, finish_reason } = Object(choice);
    return finish_reason === "content_filter" && !hasContent({ ...delta, refusal: undefined });
  });
}

function hasContent(part: Record<string, unknown> | null | undefined): boolean {
  if (part === null || part === undefined) return false;
  for (const field of contentFields) {
    const value = part[field];
    const isList = typeof value === "string" || Array.isArray(value);
    if (isList ? value.length > 0 : value !== null && value !== undefined) return true;
  }
  return false;
}

function endsForAReason(reason: string | null | undefined): boolean {
  return reason !== null && reason !== undefined && reason !== "stop";
}

/**
 * Normalizes a complete response. One with its bytes was normalized by its connector.
 *
 * @param runtime Clock and randomness.
 * @throws {UpstreamError} `invalid_response` if it is not a chat response.
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
 * @throws {UpstreamError} `invalid_response` if it is not an object.
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
