/**
 * `client.documents`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { DocumentRequest, DocumentResponse } from "../contracts/openai.ts";
import { documents } from "../pipeline/operations/documents.ts";
import { callNonStreaming } from "./call_non_streaming.ts";
import type { CallContext } from "./call_context.ts";
import { readFiles } from "./read_files.ts";
import type { CallSettings } from "./options.ts";

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
