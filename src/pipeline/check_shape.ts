/**
 * The least a request has to be for the engine to route it: enough for a program's own calls, whose provider says what
 * else is wrong. Servers, whose callers are strangers, check more: see `check_request.ts`.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { isObject } from "../util/is_object.ts";

/** Checks the body of a chat request, and returns it. Throws an `UnsupportedRequestError` with the field at fault. */
export type CheckRequest = (body: unknown) => ChatCompletionRequest;

/**
 * Checks what routing relies on.
 *
 * @param body Anything.
 * @returns The same value.
 * @throws {UnsupportedRequestError} `invalid_value`, with the field at fault.
 */
export function checkShape(body: unknown): ChatCompletionRequest {
  if (!isObject(body)) throw invalid("The request has to be an object");
  const { model, messages } = body;
  if (model !== undefined && typeof model !== "string") throw invalid('"model" has to be a string', "model");
  const hasMessages = Array.isArray(messages) && messages.length > 0;
  if (!hasMessages || !messages.every((message) => isObject(message) && typeof message.role === "string")) {
    throw invalid('"messages" has to be a list of objects, at least one, each with a "role"', "messages");
  }
  return body as unknown as ChatCompletionRequest;
}

function invalid(message: string, param?: string): UnsupportedRequestError {
  return new UnsupportedRequestError(message, { code: "invalid_value", param });
}
