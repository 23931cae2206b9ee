/**
 * Tokens and errors of Messages: what the proxy needs of the dialect before a request is read.
 * @module
 */
import type { DialectConventions } from "../dialect.ts";
import { formatMessagesError } from "./_errors.ts";

/** Anthropic's words. */
export const messagesConventions: DialectConventions = {
  tokenHint: "x-api-key: <token>",
  findToken: ({ headers }) => headers.get("x-api-key") ?? undefined,
  errorBody: formatMessagesError,
  toStatus: ({ status, error: { code } }) => status === 503 && code === "overloaded" ? 529 : status,
};
