/**
 * Errors of Responses: what the proxy needs of the dialect before a request is read. Tokens are OpenAI's.
 * @module
 */
import type { DialectConventions } from "../dialect.ts";
import { formatResponsesError } from "./_errors.ts";

/** OpenAI's newer words. */
export const responsesConventions: DialectConventions = { errorBody: formatResponsesError };
