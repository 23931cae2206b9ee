/**
 * `client.embeddings`, `client.moderations`, `client.rerank`, `client.search` and `client.documents`.
 * @module
 */
import type {
  DocumentRequest,
  DocumentResponse,
  EmbeddingRequest,
  EmbeddingResponse,
  ModerationRequest,
  ModerationResponse,
  RerankRequest,
  RerankResponse,
  SearchRequest,
  SearchResponse,
} from "../contracts/openai.ts";
import type { Params } from "../contracts/params.ts";
import { documents } from "../pipeline/operations/documents.ts";
import { embeddings } from "../pipeline/operations/embeddings.ts";
import { moderation } from "../pipeline/operations/moderation.ts";
import { rerank } from "../pipeline/operations/rerank.ts";
import { search } from "../pipeline/operations/search.ts";
import type { CallContext } from "./call_context.ts";
import { callNonStreaming } from "./call_non_streaming.ts";
import type { CallSettings } from "./options.ts";
import { readFiles } from "./read_files.ts";

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

/** A request to parse a document, given by `url` or as a file. */
export interface ParseRequest extends DocumentRequest {
  /** The document: a `File`, or a `Blob` with its media type. */
  file?: Blob;
}

/** Parses documents. */
export class Documents {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Parses a document into pages of Markdown. A `url` is fetched by the provider, never by this program.
   *
   * @param request A `file` or a `url`. Without `model`, the client's pool for document parsing is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("document-parsing");
   * const { pages } = await client.documents.parse({ url: "https://arxiv.org/pdf/1706.03762" });
   * console.log(pages.map(({ page, markdown }) => `${page}: ${markdown.length} characters`));
   * ```
   */
  async parse({ file, ...request }: Params<ParseRequest>, settings?: CallSettings): Promise<DocumentResponse> {
    return callNonStreaming(this.#context, {
      operation: documents,
      request,
      files: await readFiles("file", file),
      settings,
    });
  }
}
