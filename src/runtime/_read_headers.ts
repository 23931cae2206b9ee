/**
 * Headers that have been read.
 * @module
 */

/** Headers as a list: each access to `Headers` validates the name, and compares it with all others. */
export class ReadHeaders {
  /** Names, in lower case, and values, in turn. */
  readonly #list: string[];

  constructor(headers?: Headers) {
    const list: string[] = this.#list = [];
    headers?.forEach((value, name) => list.push(name, value));
  }

  /** @param name In lower case. */
  add(name: string, value: string): void {
    this.#list.push(name, value);
  }

  /**
   * Returns the value of a header; that of one which occurs several times is a list.
   *
   * @param name In any case, though lower case is faster.
   */
  get(name: string): string | null {
    const list = this.#list;
    let found: string | null = null;
    for (let at = 0; at < list.length; at += 2) {
      if (list[at] === name) found = found === null ? list[at + 1]! : `${found}, ${list[at + 1]}`;
    }
    if (found !== null) return found;
    const key = name.toLowerCase();
    return key === name ? null : this.get(key);
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }
}
