/**
 * The searches of one response, which the proxy runs with its own search pool.
 * @module
 */
import type { SearchResponse, ToolCall } from "../../contracts/openai.ts";
import type { StopSignal } from "../../contracts/runtime.ts";
import type { WebSearchTool } from "../../dialects/web_search.ts";
import { readSources, type WebSearch, type WebSource } from "../../dialects/web_search_results.ts";
import { DeadlineError, MeshError } from "../../errors.ts";
import { search } from "../../pipeline/operations/search.ts";
import { findObject } from "../../util/call_arguments.ts";
import { readTraceContext } from "../../util/request_id.ts";
import type { RequestTime } from "../body.ts";
import type { Exchange } from "../exchange.ts";

/** Maximum number of pages of a search, which vendors bill as one. */
const maxPages = 10;

/** A call of the search, and its result. */
export interface RunSearch {
  readonly call: ToolCall;
  readonly search: WebSearch;
}

/** What searches are run for. */
interface SearchContext {
  readonly tool: WebSearchTool;
  /** The section `proxy.tools.web_search`. */
  readonly settings: { readonly pool: string; readonly maxUses: number };
  readonly exchange: Exchange;
  /** Aborts searches. */
  readonly signal: StopSignal;
}

/** Runs searches, up to the maximum of the request and the configuration. */
export class Searches {
  readonly #context: SearchContext;
  #remaining: number;
  /** How many rounds may follow, of a model that goes on calling. */
  #rounds: number;
  #count = 0;
  #costNanoUsd: number | undefined = 0;

  constructor(context: SearchContext) {
    this.#context = context;
    const { tool, settings } = context;
    this.#remaining = Math.min(settings.maxUses, tool.maxUses ?? Infinity);
    this.#rounds = this.#remaining + 2;
  }

  /** Whether the model may search again. */
  get isExhausted(): boolean {
    return this.#remaining <= 0;
  }

  /** Whether the model is not asked again: it goes on calling, though it gets no more results. */
  get isOver(): boolean {
    return this.#rounds <= 0;
  }

  /** Cost of the searches, nano-dollars; undefined if it is unknown. */
  get costNanoUsd(): number | undefined {
    return this.#costNanoUsd;
  }

  /** Whether the proxy runs a call. */
  isSearch(name: string | undefined): boolean {
    return name === this.#context.tool.name;
  }

  /**
   * Runs calls at the same time.
   *
   * @param time The time of the request; its deadline covers searches.
   * @throws {DeadlineError} If the time is over.
   * @throws The reason of the signal.
   */
  run(calls: readonly ToolCall[], time: RequestTime): Promise<RunSearch[]> {
    this.#rounds--;
    return Promise.all(calls.map(async (call) => ({ call, search: await this.#runOne(call, time) })));
  }

  async #runOne({ function: { arguments: text } }: ToolCall, time: RequestTime): Promise<WebSearch> {
    const id = `${this.#context.exchange.requestId}_${this.#count++}`;
    const { query: written } = findObject(text) ?? {};
    const query = typeof written === "string" ? written.trim() : "";
    if (query === "") return { id, query, sources: [], fault: "invalid_tool_input" };
    if (this.isExhausted) return { id, query, sources: [], fault: "max_uses_exceeded" };
    this.#remaining--;
    try {
      return { id, query, sources: this.#filter(readSources(await this.#search(query, time))) };
    } catch (error) {
      const { signal } = this.#context;
      if (signal.aborted) throw signal.reason;
      if (!MeshError.isInstance(error) || DeadlineError.isInstance(error)) throw error;
      return { id, query, sources: [], fault: "unavailable" };
    }
  }

  async #search(query: string, { startedAt, limitMs }: RequestTime): Promise<SearchResponse["results"]> {
    const { settings: { pool }, exchange, signal } = this.#context;
    const { mesh, request, requestId, client, labels, scopes, proxy: { guards } } = exchange;
    const result = await mesh.perform({
      id: requestId,
      operation: search,
      delivery: "sync",
      model: pool,
      body: search.check({ model: pool, query, max_results: maxPages }, []),
      signal,
      timeoutMs: Math.max(0, limitMs - (mesh.runtime.clock.monotonic() - startedAt)),
      // the operator lets every client search, whatever its own pools
      client: client && { id: client.id, name: client.name, guards: client.guards },
      guards,
      ...(labels && { labels }),
      scopes,
      userAgent: request.headers.get("user-agent") ?? undefined,
      trace: readTraceContext(request.headers),
    });
    if (result.kind !== "complete") throw new TypeError(`A search has no response of the kind ${result.kind}`);
    this.#addCost(result.costNanoUsd);
    return result.response.body.results;
  }

  #addCost(costNanoUsd: number | undefined): void {
    const sum = this.#costNanoUsd;
    this.#costNanoUsd = sum === undefined || costNanoUsd === undefined ? undefined : sum + costNanoUsd;
  }

  /** Not every search vendor can limit results to domains. */
  #filter(sources: readonly WebSource[]): WebSource[] {
    const { allowedDomains: allowed, blockedDomains: blocked = [] } = this.#context.tool;
    return sources.filter(({ url }) => {
      const isIn = (domain: string) => isWithin(url, domain);
      return (allowed === undefined || allowed.some(isIn)) && !blocked.some(isIn);
    });
  }
}

/** Whether an address belongs to a domain, which may have a path. */
function isWithin(url: string, domain: string): boolean {
  const { hostname = "", pathname = "" } = URL.canParse(url) ? new URL(url) : {};
  const [host = "", ...path] = domain.replace(/^https?:\/\//, "").split("/");
  const isHost = hostname === host || hostname.endsWith(`.${host}`);
  return isHost && `${pathname}/`.startsWith(path.length === 0 ? "/" : `/${path.join("/")}`);
}
