/**
 * Converts the citations of Claude's text blocks to OpenAI's annotations. The original is kept as
 * `extra_content.anthropic`, since only web pages have a URL.
 *
 * Sources: https://platform.claude.com/docs/en/build-with-claude/citations and /search-results.
 * @module
 */
import type { Annotation, JsonObject } from "../../src/contracts/openai.ts";
import { toAnnotation } from "../../src/util/annotations.ts";
import { isObject } from "../../src/util/is_object.ts";

/**
 * Translates the citations of a text block.
 *
 * @param citations The block's `citations`.
 * @param block The block's place in the text of the response.
 */
export function toCitedAnnotations(
  citations: unknown,
  block: { readonly start: number; readonly end: number },
): Annotation[] {
  if (!Array.isArray(citations)) return [];
  return citations.filter(isObject).map((citation: JsonObject) => {
    const { url = citation.source, title = citation.document_title } = citation;
    const address = typeof url === "string" ? url : "";
    const name = typeof title === "string" ? title : address;
    return toAnnotation({ ...block, url: address, title: name, extra: { anthropic: citation } });
  });
}
