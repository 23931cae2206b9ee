/**
 * What fills in members that chat responses lack.
 * @module
 */
import type { CompletionRequest } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";

/** What fills in members that a response lacks. */
export interface CompletionDefaults {
  /** The upstream model id. */
  readonly model: string;
  /** Whether the client uses the older `functions`, and expects `function_call`. */
  readonly keepsFunctionCall: boolean;
  /** A source of randomness, 0 to 1. */
  readonly random: () => number;
  /** The time, ms since 1970. */
  readonly now: () => number;
}

/**
 * Returns what fills in the responses to a request.
 *
 * @param runtime Clock and randomness.
 */
export function createDefaults(
  { model, body }: Pick<CompletionRequest, "model" | "body">,
  { random, clock }: Pick<Runtime, "random" | "clock">,
): CompletionDefaults {
  return { model: model.id, keepsFunctionCall: body.functions !== undefined, random, now: () => clock.now() };
}
