/**
 * Document parsing.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** The body of `POST /v1/documents/parse`, next to an optional file. */
export interface DocumentRequest extends RequestBody {
  /** URL of the document, http or https, which the provider fetches; omitted if a file is uploaded. */
  url?: string;
}

/** The response to a {@linkcode DocumentRequest}. */
export interface DocumentResponse {
  /** Always `document`. */
  object: "document";
  /** The upstream model id. */
  model: string;
  /** The Markdown of all pages. */
  text: string;
  /** The pages, numbered from 1. */
  pages: { page: number; markdown: string }[];
  /** The billed usage that the provider reports; not returned to callers. */
  usage?: { total_tokens?: number };
}
