/**
 * `client.embeddings`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { EmbeddingRequest, EmbeddingResponse } from "../contracts/openai.ts";
import { embeddings } from "../pipeline/operations/embeddings.ts";
import { callWhole } from "./call_whole.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/** Embeddings. */
export class Embeddings {
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
   * Asks for a vector of each input. All requests to one pool are answered by models whose vectors can be compared.
   *
   * @param request OpenAI's embeddings request; without `model` it goes to the client's pool for embeddings.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const { data } = await client.embeddings.create({ input: ["red", "green"] });
   * console.log(data.map(({ embedding }) => embedding.length));
   * ```
   */
  create(request: Params<EmbeddingRequest>, settings?: CallSettings): Promise<EmbeddingResponse> {
    return callWhole(this.#context, {
      operation: embeddings,
      request,
      settings,
    });
  }
}
