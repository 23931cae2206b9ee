/**
 * Maps Anthropic's errors to OpenAI's, and creates errors for requests that are rejected before they are sent.
 *
 * Source: https://platform.claude.com/docs/en/api/errors
 * @module
 */
import type { OpenAiError } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import type { RetryHint } from "../../src/util/retry_after.ts";
import { readOpenAiError, saysFiltered } from "./_openai_error.ts";
import { findOwn } from "../../src/util/entries.ts";

/** OpenAI's error types for Anthropic's, where they differ. */
const types: Readonly<Record<string, string>> = {
  api_error: "server_error",
  conflict_error: "server_error",
  not_found_error: "invalid_request_error",
  overloaded_error: "server_error",
  request_too_large: "invalid_request_error",
  timeout_error: "server_error",
};

/** OpenAI's error codes for Anthropic error types with a single meaning. */
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
 * Parses the error of a Messages API response. Also accepts OpenAI's shape, which some gateways return.
 *
 * @param body The parsed body: `{type: "error", error: {type, message}}`.
 * @param status HTTP status, for the fallback message.
 */
export function readAnthropicError(body: unknown, status: number): OpenAiError {
  const fault = readOpenAiError(body, status);
  const code = fault.code ?? findCode(fault, readDetail(body));
  return { ...fault, type: code === "insufficient_quota" ? code : types[fault.type] ?? fault.type, code };
}

/**
 * The date on which a spend limit resets, parsed from the error message.
 *
 * @param body The parsed body.
 * @param now Wall-clock time, ms since the Unix epoch.
 * @returns Undefined if the message names none.
 */
export function readSpendLimitReset(body: unknown, now: number): RetryHint | undefined {
  const [, day, time] = resetMessage.exec(readOpenAiError(body, 0).message) ?? [];
  if (day === undefined) return undefined;
  const retryAt = Date.parse(`${day}T${time}:00Z`);
  return retryAt > now ? { retryAfterMs: retryAt - now, retryAt } : undefined;
}

/**
 * An error for a request that the Messages API cannot express, raised before it is sent.
 *
 * @param message What is not supported, and what is.
 * @param param The invalid request parameter.
 */
export function requestFault(message: string, param: string): UpstreamError {
  return new UpstreamError(message, {
    kind: "request",
    fault: { status: 400, error: { message, type: "invalid_request_error", param, code: "invalid_value" } },
  });
}

function findCode({ type, message }: OpenAiError, detail: string): string | null {
  if (spentMessage.test(message) || /spend_limit|billing/.test(detail)) return "insufficient_quota";
  if (type === "not_found_error" && /\bmodel\b/i.test(message)) return "model_not_found";
  if (type === "invalid_request_error" && /prompt is too long|exceeds? .{0,40}context/i.test(message)) {
    return "context_length_exceeded";
  }
  if (type === "invalid_request_error" && saysFiltered(400, message)) return "content_filter";
  return findOwn(codes, type) ?? null;
}

function readDetail(body: unknown): string {
  const { error } = (body ?? {}) as { error?: { details?: { error_code?: unknown } | null } };
  const code = error?.details?.error_code;
  return typeof code === "string" ? code : "";
}
