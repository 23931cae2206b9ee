/**
 * `client.embeddings`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { EmbeddingRequest, EmbeddingResponse } from "../contracts/openai.ts";
import { embeddings } from "../pipeline/operations/embeddings.ts";
import { callNonStreaming } from "./call_non_streaming.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/** Creates embeddings. */
export class Embeddings {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Creates an embedding vector for each input. A pool for embeddings only has models whose vectors are comparable.
   *
   * @param request OpenAI's embeddings request. Without `model`, the client's pool for embeddings is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("text-embeddings");
   * const { data } = await client.embeddings.create({ input: ["red", "green"] });
   * console.log(data.map(({ embedding }) => embedding.length));
   * ```
   */
  create(request: Params<EmbeddingRequest>, settings?: CallSettings): Promise<EmbeddingResponse> {
    return callNonStreaming(this.#context, {
      operation: embeddings,
      request,
      settings,
    });
  }
}
