/**
 * Tokens and errors of Messages: what the proxy needs of the dialect before a request is read.
 *
 * Source: https://platform.claude.com/docs/en/api/errors
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { DialectConventions, DialectFault } from "../dialect.ts";

/** Anthropic's words. */
export const messagesConventions: DialectConventions = {
  tokenHint: "x-api-key: <token>",
  findToken: ({ headers }) => headers.get("x-api-key") ?? undefined,
  errorBody: formatMessagesError,
  toStatus: ({ status, error: { code } }) => status === 503 && code === "overloaded" ? 529 : status,
};

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** By these words, clients recognize that a conversation has to be shortened. */
const tooLong = "prompt is too long";

/** Formats an error. The error type follows from the HTTP status; code and parameter are part of the message. */
export function formatMessagesError({ status, error: { message, code }, isOverload }: DialectFault): JsonObject {
  const type = types[isOverload ? 529 : status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  const isTooLong = code === "context_length_exceeded" && !message.includes(tooLong);
  return { type: "error", error: { type, message: isTooLong ? `${tooLong}: ${message}` : message } };
}
