/**
 * `client.rerank`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { RerankRequest, RerankResponse } from "../contracts/openai.ts";
import { rerank } from "../pipeline/operations/rerank.ts";
import { callNonStreaming } from "./call_non_streaming.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/** Reranks documents. */
export class Rerank {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Ranks documents by relevance to a query.
   *
   * @param request The query and the documents. Without `model`, the client's pool for reranking is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("reranking");
   * const { results } = await client.rerank.create({ query: "red", documents: ["a rose", "a leaf"] });
   * console.log(results[0]?.index); // 0
   * ```
   */
  create(request: Params<RerankRequest>, settings?: CallSettings): Promise<RerankResponse> {
    return callNonStreaming(this.#context, {
      operation: rerank,
      request,
      settings,
    });
  }
}
