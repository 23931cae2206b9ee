/**
 * Tokens and errors of the Gemini dialect, which the proxy needs before a request is read.
 * @module
 */
import type { DialectWords } from "../dialect.ts";
import { parameterOf } from "./address.ts";
import { errorBodyOf } from "./_errors.ts";

/** The tokens and errors of the Gemini dialect. */
export const geminiWords: DialectWords = {
  tokenHint: "x-goog-api-key: <token>",
  tokenOf: ({ headers, url }) => headers.get("x-goog-api-key") ?? parameterOf(url, "key"),
  errorBody: errorBodyOf,
};
