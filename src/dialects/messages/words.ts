/**
 * Tokens and errors of Messages: what the proxy needs of the dialect before a request is read.
 * @module
 */
import type { DialectWords } from "../dialect.ts";
import { errorBodyOf } from "./_errors.ts";

/** Anthropic's words. */
export const messagesWords: DialectWords = {
  tokenHint: "x-api-key: <token>",
  tokenOf: ({ headers }) => headers.get("x-api-key") ?? undefined,
  errorBody: errorBodyOf,
  toStatus: ({ status, error: { code } }) => status === 503 && code === "overloaded" ? 529 : status,
};
