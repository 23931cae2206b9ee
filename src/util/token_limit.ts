/**
 * The limit of an answer's tokens, which goes by two names.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";

/** Whether a request sets a parameter: null does not, nor does a token limit below 0 (LM Studio's word for none). */
export function isGiven(body: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = body[name];
  if (value === undefined || value === null) return false;
  return !(typeof value === "number" && value < 0 && (name === "max_tokens" || name === "max_completion_tokens"));
}

/**
 * The token limit of one response, for providers that know one name of it; the newer name wins.
 *
 * @returns Undefined when the request sets none.
 *
 * @example
 * ```ts ignore
 * tokenLimitOf({ messages, max_completion_tokens: -1, max_tokens: 50 }); // 50
 * ```
 */
export function tokenLimitOf(body: ChatCompletionRequest): number | undefined {
  const name = isGiven(body, "max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
  return isGiven(body, name) ? body[name]! : undefined;
}
