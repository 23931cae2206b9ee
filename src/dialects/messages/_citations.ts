/**
 * Converts annotations of chat to citations of text blocks. Those that this API made itself are restored.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { type Citation, readCitations } from "../../util/annotations.ts";
import { isObject } from "../../util/is_object.ts";

/** Maximum length of a quotation, as the API has it. */
const maxQuoted = 150;

/**
 * Converts a citation.
 *
 * @param text The text of the response.
 */
export function toCitation({ start, end, url, title, extra }: Citation, text: Pick<string, "slice">): JsonObject {
  if (isObject(extra?.anthropic)) return extra.anthropic;
  const cited_text = text.slice(start, Math.min(end, start + maxQuoted));
  return { type: "web_search_result_location", cited_text, encrypted_index: "", title, url };
}

/** Whether a citation is of another API's model, which has no index and would be rejected. */
export function isForeignCitation(citation: unknown): boolean {
  if (!isObject(citation)) return false;
  const { type, encrypted_index, search_result_index } = citation;
  return encrypted_index === "" || type === "web_search_result_location" && encrypted_index === undefined ||
    type === "search_result_location" && search_result_index === undefined;
}

/** A text that grows, and of which short parts are needed at any time. */
export class GrowingText {
  readonly #pages: string[] = [];
  #last = "";

  add(text: string): void {
    this.#last += text;
    for (; this.#last.length >= pageChars; this.#last = this.#last.slice(pageChars)) {
      this.#pages.push(this.#last.slice(0, pageChars));
    }
  }

  /** A part that is not longer than a page. */
  slice(start: number, end: number): string {
    const page = Math.floor(start / pageChars);
    const from = page * pageChars;
    const pages = [...this.#pages.slice(page, page + 2), ...page + 2 > this.#pages.length ? [this.#last] : []];
    return pages.join("").slice(start - from, end - from);
  }
}

const pageChars = 4_096;

/**
 * Converts a text to blocks: each cited part is a block with its citations.
 *
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
