/**
 * Anthropic's errors in OpenAI's terms, and the faults found before a request leaves.
 *
 * Source: https://platform.claude.com/docs/en/api/errors
 * @module
 */
import type { OpenAiError } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import { readOpenAiError } from "./_openai_error.ts";

/** OpenAI's class for Anthropic's, where they differ. */
const types: Readonly<Record<string, string>> = {
  api_error: "server_error",
  conflict_error: "server_error",
  not_found_error: "invalid_request_error",
  overloaded_error: "server_error",
  request_too_large: "invalid_request_error",
  timeout_error: "server_error",
};

/** OpenAI's code for a class of Anthropic's that means one thing only. */
const codes: Readonly<Record<string, string>> = {
  authentication_error: "invalid_api_key",
  billing_error: "insufficient_quota",
  overloaded_error: "overloaded",
  rate_limit_error: "rate_limit_exceeded",
  request_too_large: "request_too_large",
  timeout_error: "timeout",
};

const spentMessage = /credit balance is too low|reached your specified .{0,40}usage limits/i;
const resetMessage = /regain access on (\d{4}-\d{2}-\d{2}) at (\d{2}:\d{2}) UTC/i;

/**
 * The error object of a Messages answer; a gateway's answer in OpenAI's dialect is understood too.
 *
 * @param body The parsed body: `{type: "error", error: {type, message}}`.
 * @param status The HTTP status, for the message of last resort.
 */
export function readAnthropicError(body: unknown, status: number): OpenAiError {
  const said = readOpenAiError(body, status);
  const code = said.code ?? codeOf(said, detailOf(body));
  return { ...said, type: code === "insufficient_quota" ? code : types[said.type] ?? said.type, code };
}

/**
 * The wait that a spend limit's message names.
 *
 * @param body The parsed body.
 * @param now Wall clock, ms.
 */
export function readSpendLimitReset(body: unknown, now: number): number | undefined {
  const [, day, time] = resetMessage.exec(readOpenAiError(body, 0).message) ?? [];
  if (day === undefined) return undefined;
  const wait = Date.parse(`${day}T${time}:00Z`) - now;
  return wait > 0 ? wait : undefined;
}

/**
 * A fault of the request that is known before it is sent: the Messages API has no words for it.
 *
 * @param message What it cannot say, and what it can.
 * @param param The request's field at fault.
 */
export function requestFault(message: string, param: string): UpstreamError {
  return new UpstreamError(message, {
    kind: "request",
    fault: { status: 400, error: { message, type: "invalid_request_error", param, code: "invalid_value" } },
  });
}

function codeOf({ type, message }: OpenAiError, detail: string): string | null {
  if (spentMessage.test(message) || /spend_limit|billing/.test(detail)) return "insufficient_quota";
  if (type === "not_found_error" && /\bmodel\b/i.test(message)) return "model_not_found";
  if (type === "invalid_request_error" && /prompt is too long|exceeds? .{0,40}context/i.test(message)) {
    return "context_length_exceeded";
  }
  return codes[type] ?? null;
}

function detailOf(body: unknown): string {
  const { error } = (body ?? {}) as { error?: { details?: { error_code?: unknown } | null } };
  const code = error?.details?.error_code;
  return typeof code === "string" ? code : "";
}
