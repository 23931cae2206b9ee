/**
 * Lowers what a request asks for to the upper bounds of a model: output tokens and stop sequences.
 * @module
 */
import type { ChatCompletionRequest } from "../../contracts/openai.ts";
import type { ModelConstraints, ModelInfo, ParameterRules } from "../../contracts/provider.ts";
import { estimateTokens, minTokens } from "../estimate.ts";
import { measureRequest } from "../request_size.ts";

/**
 * Returns the most output tokens that a model may be asked for, whatever the input; `Infinity` if that is unknown.
 *
 * @param constraints The model's constraints.
 */
export function maxOutput({ max_output_tokens, context_window }: ModelConstraints = {}): number {
  return Math.min(max_output_tokens ?? Infinity, context_window ?? Infinity);
}

/** Returns the members of a request that exceed a bound of the model, lowered to it. */
export function lowerToBounds(
  body: ChatCompletionRequest,
  { constraints, parameters }: ModelInfo,
): Readonly<Record<string, unknown>> {
  const edits: Record<string, unknown> = {};
  const most = maxOutput(constraints);
  for (const name of ["max_tokens", "max_completion_tokens"] as const) {
    const limit = body[name];
    if (typeof limit === "number" && limit > most) edits[name] = Math.min(most, roomFor(body, constraints));
  }
  const stop = lowerStops(body.stop, parameters);
  if (stop !== body.stop) edits.stop = stop;
  return edits;
}

function lowerStops(
  stop: unknown,
  { max_stop_sequences: most, blank_stop_sequences: mayBeBlank }: ParameterRules = {},
) {
  const isSent = (sequence: unknown) => mayBeBlank !== false || typeof sequence !== "string" || sequence.trim() !== "";
  if (!Array.isArray(stop)) return isSent(stop) ? stop : undefined;
  const sent = stop.filter(isSent).slice(0, most);
  return sent.length === stop.length ? stop : sent.length === 0 ? undefined : sent;
}

/** What the input leaves of the context window: estimated low if possible, since a vendor rejects what exceeds it. */
function roomFor(body: ChatCompletionRequest, { context_window: window }: ModelConstraints = {}): number {
  if (window === undefined) return Infinity;
  const size = measureRequest(body);
  const certain = window - estimateTokens(body, size).input;
  return certain > 0 ? certain : Math.max(1, window - minTokens(size));
}
