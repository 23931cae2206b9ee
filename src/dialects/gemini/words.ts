/**
 * Tokens and errors of Gemini's dialect: what the proxy needs of it before a request is read.
 * @module
 */
import type { DialectWords } from "../dialect.ts";
import { parameterOf } from "./address.ts";
import { errorBodyOf } from "./_errors.ts";

/** Google's words. */
export const geminiWords: DialectWords = {
  tokenHint: "x-goog-api-key: <token>",
  tokenOf: ({ headers, url }) => headers.get("x-goog-api-key") ?? parameterOf(url, "key"),
  errorBody: errorBodyOf,
};
