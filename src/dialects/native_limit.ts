/**
 * The limit of output tokens in native requests.
 * @module
 */

/**
 * Returns the limit of a native request, if it has to be lowered for a model.
 *
 * @param limit The client's limit; any value.
 * @param inChat Members that differ for the model in chat form.
 * @returns Undefined if it stays.
 */
export function findLoweredLimit(limit: unknown, inChat: Readonly<Record<string, unknown>>): number | undefined {
  const lowered = inChat.max_completion_tokens ?? inChat.max_tokens;
  return typeof limit === "number" && typeof lowered === "number" && lowered < limit ? lowered : undefined;
}
