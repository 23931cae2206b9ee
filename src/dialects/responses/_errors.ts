/**
 * Errors of Responses: they are OpenAI's.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import type { DialectFault } from "../dialect.ts";

/** The body of an error. */
export function errorBodyOf({ error }: DialectFault): JsonObject {
  return { error };
}

/** The error of a response that failed midway: it has a code and a message alone. */
export function failureOf({ error: { code, type, message } }: DialectFault): JsonObject {
  return { code: code ?? type, message };
}
