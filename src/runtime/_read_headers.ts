/**
 * Headers that have been read.
 * @module
 */

/** Headers as a list. */
export class ReadHeaders {
  readonly #list: readonly string[];

  /** @param list Names, in lower case, and values, in turn. */
  constructor(list: readonly string[]) {
    this.#list = list;
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

/** Copies headers: each access to `Headers` validates the name, and compares it with all others. */
export function copyHeaders(headers: Headers): ReadHeaders {
  const list: string[] = [];
  headers.forEach((value, name) => list.push(name, value));
  return new ReadHeaders(list);
}
