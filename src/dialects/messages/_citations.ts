/**
 * Converts annotations of chat to citations of text blocks. Those that this API made itself are restored.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { type Citation, readCitations } from "../../util/annotations.ts";
import { isObject } from "../../util/is_object.ts";

/**
 * Converts a citation.
 *
 * @param citation The citation.
 * @param text The text of the response.
 */
export function toCitation({ start, end, url, title, extra }: Citation, text: string): JsonObject {
  if (isObject(extra?.anthropic)) return extra.anthropic;
  const cited_text = text.slice(start, end);
  return { type: "web_search_result_location", cited_text, encrypted_index: "", title, url };
}

/** Whether a citation is of another API's model, which has no index and would be rejected. */
export function isForeignCitation(citation: unknown): boolean {
  return isObject(citation) && citation.encrypted_index === "";
}

/**
 * Converts a text to blocks: each cited part is a block with its citations.
 *
 * @param text The text.
 * @param annotations Its annotations, as they came.
 */
export function toTextBlocks(text: string, annotations: unknown): JsonObject[] {
  const blocks: (JsonObject & { citations?: JsonObject[] })[] = [];
  let written = 0;
  const writeUpTo = (end: number) => {
    if (end > written) blocks.push({ type: "text", text: text.slice(written, end) });
    written = Math.max(written, end);
  };
  const unplaced: JsonObject[] = [];
  for (const citation of readCitations(annotations)) {
    const end = Math.min(citation.end, text.length);
    const target = end <= citation.start ? undefined : end;
    if (target !== undefined) {
      writeUpTo(Math.min(citation.start, text.length));
      writeUpTo(target);
    }
    const list = target === undefined ? unplaced : blocks.at(-1)!.citations ??= [];
    list.push(toCitation(citation, text));
  }
  writeUpTo(text.length);
  if (unplaced.length === 0) return blocks;
  const last = blocks.at(-1) ?? { type: "text", text };
  return [...blocks.slice(0, -1), { ...last, citations: [...last.citations ?? [], ...unplaced] }];
}
