/**
 * Headers that have been read.
 * @module
 */

/** Reads all headers at once: each access to `Headers` validates the name, and compares it with all others. */
export class ReadHeaders {
  /** Names and values, in turn. */
  readonly #list: string[] = [];

  constructor(headers: Headers) {
    headers.forEach((value, name) => this.#list.push(name, value));
  }

  /** @param name In any case, though lower case is faster. */
  get(name: string): string | null {
    const list = this.#list;
    for (let at = 0; at < list.length; at += 2) if (list[at] === name) return list[at + 1]!;
    const key = name.toLowerCase();
    return key === name ? null : this.get(key);
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }
}
