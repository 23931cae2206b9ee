/**
 * Known members of request bodies: OpenAI's, the mesh's own, and those of vendors to which parameter rules refer.
 * @module
 */

/** Members of a chat request. */
export const chatMembers: readonly string[] = [
  ...["model", "messages", "stream", "stream_options", "n", "user", "metadata", "store", "service_tier"],
  ...["max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "min_p", "seed", "random_seed", "stop"],
  ...["frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias", "logprobs", "top_logprobs"],
  ...["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "web_search_options", "dimensions"],
  ...["response_format", "modalities", "audio", "prediction", "verbosity", "reasoning_effort", "reasoning", "thinking"],
  ...["prompt_cache_key", "prompt_cache_retention", "cache_control", "safety_identifier"],
  ...["enable_thinking", "reasoning_split"],
];

/**
 * Finds the known member that a name matches ignoring case, with the simple case folding of Go's `encoding/json`: ſ
 * (U+017F) matches s, and K (U+212A) matches k.
 *
 * @param members Members of the operation; those common to all operations are added.
 * @returns Undefined for an unknown name.
 *
 * @example
 * ```ts
 * memberFinder(chatMembers)("Model"); // "model"
 * ```
 */
export function memberFinder(members: readonly string[]): (name: string) => string | undefined {
  const known = new Set(["model", "user", ...members, ...privateFields]);
  const folded = new Map([...known].map((name) => [fold(name), name]));
  const maxLength = Math.max(...[...known].map(({ length }) => length));
  return (name) => {
    if (known.has(name)) return name;
    return name.length > maxLength ? undefined : folded.get(fold(name));
  };
}

/** A name without differences in case. */
function fold(name: string): string {
  // `toLowerCase` maps K to k, but it keeps ſ
  return name.toLowerCase().replaceAll("\u017f", "s");
}

/** Fields that control the mesh, or that would let a caller choose the target or the API key. */
export const privateFields: readonly string[] = [
  "mesh",
  "models",
  "api_key",
  "api_base",
  "base_url",
  "extra_headers",
];
