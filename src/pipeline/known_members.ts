/**
 * The members of requests that have a meaning here or for most providers: OpenAI's, those of vendors that rules speak of,
 * and our own.
 * @module
 */
import { privateFields } from "./private_fields.ts";

/** Of a chat request. */
export const chatMembers: readonly string[] = [
  ...["model", "messages", "stream", "stream_options", "n", "user", "metadata", "store", "service_tier"],
  ...["max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "min_p", "seed", "random_seed", "stop"],
  ...["frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias", "logprobs", "top_logprobs"],
  ...["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "web_search_options", "dimensions"],
  ...["response_format", "modalities", "audio", "prediction", "verbosity", "reasoning_effort", "reasoning", "thinking"],
  ...["prompt_cache_key", "prompt_cache_retention", "cache_control", "safety_identifier"],
];

/**
 * Finds the member that a name stands for, whatever its case: simple case folding, as Go's `encoding/json` folds. There ſ
 * (U+017F) is an s, the sign of kelvin (U+212A) a k.
 *
 * @param members Those of an operation; what all operations have is added.
 * @returns Undefined for an unknown name.
 *
 * @example
 * ```ts ignore
 * memberFinder(chatMembers)("Model"); // "model"
 * ```
 */
export function memberFinder(members: readonly string[]): (name: string) => string | undefined {
  const known = new Set(["model", "user", ...members, ...privateFields]);
  const anyCase = new RegExp(`^(?:${[...known].join("|")})$`, "iu");
  return (name) => {
    if (known.has(name)) return name;
    return anyCase.test(name) ? [...known].find((one) => new RegExp(`^${one}$`, "iu").test(name)) : undefined;
  };
}
