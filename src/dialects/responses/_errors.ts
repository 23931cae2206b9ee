/**
 * Errors of the Responses API, which has OpenAI's format.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { DialectFault } from "../dialect.ts";

/** Formats an error response. */
export function formatResponsesError({ error }: DialectFault): JsonObject {
  return { error };
}

/** The error of a response that failed mid-stream: only a code and a message. */
export function formatFailure({ error: { code, type, message } }: DialectFault): JsonObject {
  return { code: code ?? type, message };
}
