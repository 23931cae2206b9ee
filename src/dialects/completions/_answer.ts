/**
 * Converts a complete chat response to a text completion.
 * @module
 */
import type { AssistantMessage, ChatCompletion, CompletionUsage, JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import type { TextForm } from "./_request.ts";
import { toText } from "../../util/to_text.ts";

/** Converts a complete response. */
export function formatTextCompletion(
  { id, created, model, choices, usage }: ChatCompletion,
  form: TextForm,
): JsonObject {
  return {
    id,
    object: "text_completion",
    created,
    model,
    choices: choices.map(({ index, message, finish_reason: reason, logprobs }) => ({
      text: (form.echo ?? "") + joinMessageText(message),
      index: form.firstIndex + index,
      logprobs: splitLogprobs(logprobs),
      finish_reason: mapTextFinishReason(reason),
    })),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** Merges the responses to several prompts; their token counts are added. */
export function joinCompletions(completions: readonly JsonObject[]): JsonObject {
  const usages = completions.flatMap(({ usage }) => isObject(usage) ? usage as unknown as CompletionUsage : []);
  return {
    ...completions[0],
    choices: completions.flatMap(({ choices }) => choices),
    ...(usages.length === 0 ? {} : { usage: addUsages(usages) }),
  };
}

/** Adds the token counts of several responses. Values that are not numbers count as 0. */
export function addUsages(usages: readonly CompletionUsage[]): CompletionUsage {
  const sum = (name: "prompt_tokens" | "completion_tokens" | "total_tokens") =>
    usages.reduce((total, { [name]: count }) => total + (Number.isFinite(count) ? count : 0), 0);
  return {
    prompt_tokens: sum("prompt_tokens"),
    completion_tokens: sum("completion_tokens"),
    total_tokens: sum("total_tokens"),
  };
}

/** The finish reason of a completion. */
export function mapTextFinishReason(reason: string | null): string | null {
  return reason === null || reason === "length" || reason === "content_filter" ? reason : "stop";
}

/** Converts log probabilities to the parallel arrays of text completions; null if there are none. */
export function splitLogprobs(logprobs: JsonObject | null | undefined): JsonObject | null {
  const tokens = (Array.isArray(logprobs?.content) ? logprobs.content : []).filter(isObject);
  if (tokens.length === 0) return null;
  let offset = 0;
  const offsets = tokens.map(({ token }) => {
    const start = offset;
    offset += toText(token).length;
    return start;
  });
  const tops = tokens.map(({ top_logprobs: top }) =>
    Object.fromEntries(
      (Array.isArray(top) ? top : []).filter(isObject).map(({ token, logprob }) => [toText(token), logprob]),
    )
  );
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tops,
    text_offset: offsets,
  };
}

function joinMessageText({ content, refusal }: AssistantMessage): string {
  return toText(content) + toText(refusal);
}
