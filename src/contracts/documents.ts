/**
 * Document parsing.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** The body of `POST /v1/documents/parse`, beside a file. */
export interface DocumentRequest extends RequestBody {
  /** Where the document is, http or https; left out where a file is given. The provider fetches it. */
  url?: string;
}

/** The response to a {@linkcode DocumentRequest}. */
export interface DocumentResponse {
  /** Always `document`. */
  object: "document";
  /** The concrete model, as its provider names it. */
  model: string;
  /** The Markdown of all pages. */
  text: string;
  /** Each page by itself, the first one is 1. */
  pages: { page: number; markdown: string }[];
  /** What a provider reports as billed; callers do not see it. */
  usage?: { total_tokens?: number };
}
