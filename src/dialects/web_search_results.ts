/**
 * Results of web searches: as the model reads them, and as dialects carry them.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import { isObject } from "../util/is_object.ts";
import { toText } from "../util/to_text.ts";

/** A page that a search has found. */
export interface WebSource {
  readonly url: string;
  readonly title: string;
  /** An excerpt; empty if there is none. */
  readonly snippet: string;
  /** When it was published, as the search vendor writes it; undefined if it does not say. */
  readonly published?: string | undefined;
}

/** Why a search has no results, in the words that models read. */
type SearchFault = "unavailable" | "max_uses_exceeded" | "invalid_tool_input";

/** A search that the proxy has run for a model. */
export interface WebSearch {
  /** Unique within the response. */
  readonly id: string;
  readonly query: string;
  readonly sources: readonly WebSource[];
  readonly fault?: SearchFault | undefined;
}

/** Reads pages that a client has sent back; others than objects with an address are skipped. */
export function readSources(value: unknown): WebSource[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).flatMap(({ url, title, snippet, published }: JsonObject) => {
    if (typeof url !== "string" || url === "") return [];
    const base = { url, title: toText(title) || url, snippet: toText(snippet) };
    return [typeof published === "string" ? { ...base, published } : base];
  });
}

/** Writes pages for a model. */
export function formatSources(sources: readonly WebSource[]): string {
  return sources.map(({ url, title, snippet, published = "" }) => joinLines(title, url, published, snippet)).join(
    "\n\n",
  );
}

/** Joins the lines that are not empty. */
export function joinLines(...lines: readonly string[]): string {
  return lines.filter((line) => line !== "").join("\n");
}
