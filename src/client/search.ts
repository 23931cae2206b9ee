/**
 * `client.search`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { SearchRequest, SearchResponse } from "../contracts/openai.ts";
import { search } from "../pipeline/operations/search.ts";
import { callWhole } from "./call_whole.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";

/** Web search. */
export class Search {
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
   * Searches the web.
   *
   * @param request What is looked for; without `model` it goes to the client's pool for it.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const { results } = await client.search.create({ query: "tallest tower", max_results: 3 });
   * console.log(results.map(({ title, url }) => `${title}: ${url}`));
   * ```
   */
  create(request: Params<SearchRequest>, settings?: CallSettings): Promise<SearchResponse> {
    return callWhole(this.#context, {
      operation: search,
      request,
      settings,
    });
  }
}
