/**
 * Sources that vendors list beside a response, to which its text refers by number, such as `[2]`.
 *
 * Sources: docs.perplexity.ai (`search_results`, `citations`), docs.x.ai (`citations`).
 * @module
 */
import type { Annotation } from "../contracts/openai.ts";
import { maxRepeats, toAnnotation } from "./annotations.ts";
import { isObject } from "./is_object.ts";

/** A source. */
export interface CitedSource {
  readonly url: string;
  readonly title: string;
}

/**
 * Reads the list of sources of a response or a chunk; empty if there is none.
 *
 * @param body The response or the chunk.
 */
export function readSources({ search_results: results, citations }: Record<string, unknown>): CitedSource[] {
  const list = Array.isArray(results) && results.length > 0 ? results : citations;
  if (!Array.isArray(list)) return [];
  return list.map((source: unknown) => {
    const { url, title } = isObject(source) ? source : { url: source, title: undefined };
    const address = typeof url === "string" ? url : "";
    return { url: address, title: typeof title === "string" ? title : address };
  });
}

/**
 * Converts sources to annotations: one for each reference in the text, and one without a place for each other source.
 *
 * @param sources The sources, the first of which is number 1.
 * @param text The text of the response.
 */
export function toSourceAnnotations(sources: readonly CitedSource[], text: string): Annotation[] {
  const annotations: Annotation[] = [];
  const others = new Set(sources);
  for (const { 0: reference, 1: number, index } of text.matchAll(/\[(\d{1,4})\]/g)) {
    const source = sources[Number(number) - 1];
    if (source === undefined || source.url === "") continue;
    if (annotations.length === maxRepeats) break;
    others.delete(source);
    annotations.push(toAnnotation({ ...source, start: index, end: index + reference.length }));
  }
  for (const source of others) if (source.url !== "") annotations.push(toAnnotation({ ...source, start: 0, end: 0 }));
  return annotations;
}
