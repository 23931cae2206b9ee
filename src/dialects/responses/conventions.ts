/**
 * Errors of Responses, in OpenAI's format: what the proxy needs of the dialect before a request is read. Tokens are
 * OpenAI's.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { DialectConventions, DialectFault } from "../dialect.ts";

/** OpenAI's newer words. */
export const responsesConventions: DialectConventions = { errorBody: formatResponsesError };

/** Formats an error response. */
function formatResponsesError({ error }: DialectFault): JsonObject {
  return { error };
}

/** The error of a response that failed mid-stream: only a code and a message. */
export function formatFailure({ error: { code, type, message } }: DialectFault): JsonObject {
  return { code: code ?? type, message };
}
