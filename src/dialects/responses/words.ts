/**
 * Errors of Responses: what the proxy needs of the dialect before a request is read. Tokens are OpenAI's.
 * @module
 */
import type { DialectWords } from "../dialect.ts";
import { formatResponsesError } from "./_errors.ts";

/** OpenAI's newer words. */
export const responsesWords: DialectWords = { errorBody: formatResponsesError };
