/**
 * `client.documents`.
 * @module
 */
import type { Params } from "../contracts/params.ts";
import type { DocumentRequest, DocumentResponse } from "../contracts/openai.ts";
import { documents } from "../pipeline/operations/documents.ts";
import { callWhole } from "./call_whole.ts";
import type { CallContext } from "./call_context.ts";
import { filesOf } from "./files_of.ts";
import type { CallSettings } from "./options.ts";

/** A request to parse a document: what is at its `url`, or a file. */
export interface ParseRequest extends DocumentRequest {
  /** The document: a `File` or a `Blob` with its media type. */
  file?: Blob;
}

/** Document parsing. */
export class Documents {
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
   * Asks for the pages of a document as Markdown. What is at a `url` the provider fetches, never this program.
   *
   * @param request A `file` or a `url`; without `model` it goes to the client's pool for it.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const { pages } = await client.documents.parse({ url: "https://arxiv.org/pdf/1706.03762" });
   * console.log(pages.map(({ page, markdown }) => `${page}: ${markdown.length} characters`));
   * ```
   */
  async parse({ file, ...request }: Params<ParseRequest>, settings?: CallSettings): Promise<DocumentResponse> {
    return callWhole(this.#context, {
      operation: documents,
      request,
      files: await filesOf("file", file),
      settings,
    });
  }
}
