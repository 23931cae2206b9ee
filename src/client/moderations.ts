/**
 * `client.moderations`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { ModerationRequest, ModerationResponse } from "../contracts/openai.ts";
import { moderation } from "../pipeline/operations/moderation.ts";
import { callNonStreaming } from "./call_non_streaming.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/** Moderates content. */
export class Moderations {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Classifies whether texts and images are harmful.
   *
   * @param request OpenAI's moderation request. Without `model`, the client's pool for moderation is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("content-moderation");
   * const { results } = await client.moderations.create({ input: "I like you" });
   * console.log(results[0]?.flagged); // false
   * ```
   */
  create(request: Params<ModerationRequest>, settings?: CallSettings): Promise<ModerationResponse> {
    return callNonStreaming(this.#context, {
      operation: moderation,
      request,
      settings,
    });
  }
}
