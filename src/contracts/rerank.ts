/**
 * Reranking: documents in order of their relevance to a query.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** A document of a {@linkcode RerankRequest}. */
export type RerankDocument = string | { text: string; [key: string]: unknown };

/** The body of `POST /v1/rerank`. */
export interface RerankRequest extends RequestBody {
  /** The query. */
  query: string;
  /** The documents to rank. */
  documents: RerankDocument[];
  /** Maximum number of results; all when omitted. */
  top_n?: number | null;
  /** Whether results include the documents. @default {false} */
  return_documents?: boolean | null;
}

/** The response to a {@linkcode RerankRequest}. */
export interface RerankResponse {
  /** The upstream model id. */
  model: string;
  /** Results by descending relevance; `index` refers to the request's documents. */
  results: { index: number; relevance_score: number; document?: { text: string } }[];
  /** The reported usage: tokens or search units. */
  usage?: { total_tokens?: number; search_units?: number; [key: string]: unknown };
  /** Vendor extensions. */
  [key: string]: unknown;
}
