/**
 * Web search.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** The body of `POST /v1/search`. */
export interface SearchRequest extends RequestBody {
  /** The query. */
  query: string;
  /** Maximum number of results; the vendor's default when omitted. */
  max_results?: number | null;
}

/** A search result. */
export interface SearchResult {
  /** Title of the page. */
  title: string;
  /** URL of the page. */
  url: string;
  /** Excerpt of the page that matches the query. */
  snippet: string;
  /** Publication date, in the vendor's format. */
  published?: string;
  /** Relevance score, on the vendor's scale. */
  score?: number;
}

/** The response to a {@linkcode SearchRequest}. */
export interface SearchResponse {
  /** Always `search`. */
  object: "search";
  /** The upstream model id. */
  model: string;
  /** Results by descending relevance. */
  results: SearchResult[];
  /** The billed usage that the provider reports; not returned to callers. */
  usage?: { searches?: number; total_tokens?: number };
}
