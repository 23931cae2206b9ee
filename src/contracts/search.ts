/**
 * Web search.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** The body of `POST /v1/search`. */
export interface SearchRequest extends RequestBody {
  /** What is looked for. */
  query: string;
  /** How many results at most; as many as the vendor gives when left out. */
  max_results?: number | null;
}

/** A page that a search found. */
export interface SearchResult {
  /** The page's title. */
  title: string;
  /** The page's address. */
  url: string;
  /** What of the page fits the query. */
  snippet: string;
  /** When it was published, as the vendor writes dates. */
  published?: string;
  /** How well it fits, in the vendor's measure. */
  score?: number;
}

/** The response to a {@linkcode SearchRequest}. */
export interface SearchResponse {
  /** Always `search`. */
  object: "search";
  /** The concrete model, as its provider names it. */
  model: string;
  /** Best first. */
  results: SearchResult[];
  /** What a provider reports as billed; callers do not see it. */
  usage?: { searches?: number; total_tokens?: number };
}
