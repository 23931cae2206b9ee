/**
 * `client.rerank`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { RerankRequest, RerankResponse } from "../contracts/openai.ts";
import { rerank } from "../pipeline/operations/rerank.ts";
import { callWhole } from "./call_whole.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/** Reranking. */
export class Rerank {
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
   * Asks which documents fit a query best.
   *
   * @param request The query and the documents; without `model` it goes to the client's pool for it.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const { results } = await client.rerank.create({ query: "red", documents: ["a rose", "a leaf"] });
   * console.log(results[0]?.index); // 0
   * ```
   */
  create(request: Params<RerankRequest>, settings?: CallSettings): Promise<RerankResponse> {
    return callWhole(this.#context, {
      operation: rerank,
      request,
      settings,
    });
  }
}
