/**
 * The limit of output tokens, which has two names in OpenAI's API.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";

/**
 * Whether a request sets a parameter. Null does not, nor does a token limit below 0, which means "no limit" in LM
 * Studio.
 */
export function isGiven(body: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = body[name];
  if (value === undefined || value === null) return false;
  return !(typeof value === "number" && value < 0 && (name === "max_tokens" || name === "max_completion_tokens"));
}

/**
 * Returns the limit of output tokens, for providers that know one of its names. The newer name takes precedence.
 *
 * @returns Undefined when the request sets no limit.
 *
 * @example
 * ```ts
 * findTokenLimit({ messages: [], max_completion_tokens: -1, max_tokens: 50 }); // 50
 * ```
 */
export function findTokenLimit(body: ChatCompletionRequest): number | undefined {
  const name = isGiven(body, "max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
  return isGiven(body, name) ? body[name]! : undefined;
}
