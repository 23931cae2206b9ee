/**
 * `client.moderations`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { ModerationRequest, ModerationResponse } from "../contracts/openai.ts";
import { moderation } from "../pipeline/operations/moderation.ts";
import { callWhole } from "./call_whole.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/** Moderation. */
export class Moderations {
  readonly #context: CallContext;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Asks what in texts and images is harmful.
   *
   * @param request OpenAI's moderation request; without `model` it goes to the client's pool for it.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const { results } = await client.moderations.create({ input: "I like you" });
   * console.log(results[0]?.flagged); // false
   * ```
   */
  create(request: Params<ModerationRequest>, settings?: CallSettings): Promise<ModerationResponse> {
    return callWhole(this.#context, {
      operation: moderation,
      request,
      settings,
    });
  }
}
