/**
 * Citations in the text of a model that has read the results of a web search: links to these pages, as Markdown or plain.
 * @module
 */
import type { Annotation } from "../contracts/openai.ts";
import { toAnnotation } from "../util/annotations.ts";
import type { WebSource } from "./web_search_results.ts";

/** What ends an address in text. */
const addressEnd = /[\s)\]>"'`<]/;

/** Maximum length of an address, characters. */
const maxLength = 2_048;

/** Maximum length of the text of a link, characters. */
const maxLinkText = 512;

/** Maximum number of sources of a text that cites none. */
const maxUncited = 10;

/** Finds citations in a text while it grows. */
export class CitedSources {
  /** Pages by address. */
  readonly #sources = new Map<string, WebSource>();
  /** The end of the text, in which an address may begin. */
  #tail = "";
  /** Length of the text before the tail. */
  #offset = 0;
  #hasCited = false;

  /** Adds pages that the model can cite from now on. */
  addSources(sources: readonly WebSource[]): void {
    for (const source of sources) {
      const key = normalizeAddress(source.url);
      if (!this.#sources.has(key)) this.#sources.set(key, source);
    }
  }

  /**
   * Adds text.
   *
   * @returns The citations that it completes.
   */
  add(text: string): Annotation[] {
    if (this.#sources.size === 0) {
      this.#offset += text.length;
      return [];
    }
    this.#tail += text;
    return this.#find(false);
  }

  /** The citations that the end of the text completes; if there were none at all, the pages without a place. */
  end(): Annotation[] {
    const found = this.#find(true);
    if (this.#hasCited) return found;
    return [...this.#sources.values()].slice(0, maxUncited)
      .map(({ url, title }) => toAnnotation({ start: 0, end: 0, url, title }));
  }

  #find(isEnd: boolean): Annotation[] {
    const found: Annotation[] = [];
    let from = 0;
    for (;;) {
      const at = this.#tail.indexOf("http", from);
      if (at === -1) {
        this.#keep(Math.max(from, this.#tail.length - maxLinkText));
        return found;
      }
      const length = this.#tail.slice(at, at + maxLength).search(addressEnd);
      const isOpen = length === -1 && this.#tail.length - at < maxLength;
      if (isOpen && !isEnd) {
        this.#keep(Math.max(0, at - maxLinkText));
        return found;
      }
      const address = this.#tail.slice(at, length === -1 ? at + maxLength : at + length);
      const annotation = this.#cite(address, { at, from });
      if (annotation !== undefined) found.push(annotation);
      from = at + Math.max(1, address.length);
    }
  }

  #cite(address: string, { at, from }: { readonly at: number; readonly from: number }): Annotation | undefined {
    const source = this.#sources.get(normalizeAddress(address));
    if (source === undefined) return undefined;
    this.#hasCited = true;
    const isLink = this.#tail.slice(at - 2, at) === "](";
    const opening = isLink ? this.#tail.lastIndexOf("[", at - 2) : -1;
    const start = opening >= from ? opening : at;
    const end = at + address.length + (isLink && this.#tail[at + address.length] === ")" ? 1 : 0);
    const { url, title } = source;
    return toAnnotation({ start: this.#offset + start, end: this.#offset + end, url, title });
  }

  /** Forgets the text before a position. */
  #keep(position: number): void {
    this.#offset += position;
    this.#tail = this.#tail.slice(position);
  }
}

/** An address without what ends a sentence, or a directory. */
function normalizeAddress(url: string): string {
  return url.slice(0, maxLength).replace(/[.,;:!?*_]{1,8}$/, "").replace(/\/$/, "");
}
