/**
 * Tokens and errors of the Gemini dialect, which the proxy needs before a request is read.
 * @module
 */
import type { DialectConventions } from "../dialect.ts";
import { findParameter } from "./address.ts";
import { formatGeminiError } from "./_errors.ts";

/** The tokens and errors of the Gemini dialect. */
export const geminiConventions: DialectConventions = {
  tokenHint: "x-goog-api-key: <token>",
  findToken: ({ headers, url }) => headers.get("x-goog-api-key") ?? findParameter(url, "key"),
  errorBody: formatGeminiError,
};
