/**
 * `client.search`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { SearchRequest, SearchResponse } from "../contracts/openai.ts";
import { search } from "../pipeline/operations/search.ts";
import { callNonStreaming } from "./call_non_streaming.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/** Searches the web. */
export class Search {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Searches the web.
   *
   * @param request The query. Without `model`, the client's pool for web search is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("web-search");
   * const { results } = await client.search.create({ query: "tallest tower", max_results: 3 });
   * console.log(results.map(({ title, url }) => `${title}: ${url}`));
   * ```
   */
  create(request: Params<SearchRequest>, settings?: CallSettings): Promise<SearchResponse> {
    return callNonStreaming(this.#context, {
      operation: search,
      request,
      settings,
    });
  }
}
