/**
 * Headers that have been read.
 * @module
 */

/** Reads all headers at once: each access to `Headers` validates the name, and compares it with all others. */
export class ReadHeaders {
  readonly #values = new Map<string, string>();

  constructor(headers: Headers) {
    headers.forEach((value, name) => this.#values.set(name, value));
  }

  get(name: string): string | null {
    return this.#values.get(name) ?? this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }
}
