/**
 * Requests with `generate: false`: a client announces the beginning of a conversation, and continues it by the id of the
 * response, which is empty.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { formatResponse, formatResponseUsage, type ResponsesHead } from "./_response.ts";
import { convertResponsesRequest } from "./_request.ts";

/** Whether a request asks for no output. */
export function isWarmUp(value: unknown): value is JsonObject {
  return isObject(value) && value.generate === false;
}

/**
 * Checks a request like any other, except that it may have no input.
 *
 * @returns The response, and the events of a streamed one.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function formatWarmUp(
  body: JsonObject,
  head: ResponsesHead,
): { readonly response: JsonObject; readonly events: string } {
  const { input } = body;
  const isEmpty = input === undefined || input === null || Array.isArray(input) && input.length === 0;
  convertResponsesRequest(isEmpty ? { ...body, input: [{ type: "message", role: "user", content: "" }] } : body);
  const begun = formatResponse(body, head);
  const usage = formatResponseUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  const response = { ...begun, status: "completed", ...usage };
  const formatEvent = (type: string, response: JsonObject, sequence_number: number) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, response })}\n\n`;
  return {
    response,
    events: formatEvent("response.created", begun, 0) + formatEvent("response.completed", response, 1),
  };
}
