/**
 * Tokens and errors of the Gemini dialect, which the proxy needs before a request is read.
 *
 * Source: https://google.aip.dev/193 and google/rpc/code.proto
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { DialectConventions, DialectFault } from "../dialect.ts";
import { findParameter } from "./address.ts";

/** The tokens and errors of the Gemini dialect. */
export const geminiConventions: DialectConventions = {
  tokenHint: "x-goog-api-key: <token>",
  findToken: ({ headers, url }) => headers.get("x-goog-api-key") ?? findParameter(url, "key"),
  errorBody: formatGeminiError,
};

const words: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  402: "RESOURCE_EXHAUSTED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  504: "DEADLINE_EXCEEDED",
};

/** Formats an error. The gRPC status follows from the HTTP status; the parameter is part of the message. */
export function formatGeminiError({ status, error: { message } }: DialectFault): JsonObject {
  const word = words[status] ?? (status >= 500 ? "UNAVAILABLE" : "INVALID_ARGUMENT");
  return { error: { code: status, message, status: word } };
}
