/**
 * Reranking: documents in order of their relevance to a query.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** A document of a {@linkcode RerankRequest}. */
export type RerankDocument = string | { text: string; [key: string]: unknown };

/** The body of `POST /v1/rerank`. */
export interface RerankRequest extends RequestBody {
  /** What is looked for. */
  query: string;
  /** Where it is looked for. */
  documents: RerankDocument[];
  /** How many results at most; all when left out. */
  top_n?: number | null;
  /** Whether results carry their documents. @default {false} */
  return_documents?: boolean | null;
}

/** The response to a {@linkcode RerankRequest}. */
export interface RerankResponse {
  /** The concrete model, as its provider names it. */
  model: string;
  /** Best first; `index` is that of the document. */
  results: { index: number; relevance_score: number; document?: { text: string } }[];
  /** What the provider reports: tokens, or searches. */
  usage?: { total_tokens?: number; search_units?: number; [key: string]: unknown };
  /** What else a vendor adds. */
  [key: string]: unknown;
}
