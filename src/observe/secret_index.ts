/**
 * Redaction of many secrets, such as the tokens of thousands of clients, in one pass. Imported where there are many.
 * @module
 */

import { getOrCreate } from "../util/once.ts";

/** Length of the beginnings by which secrets are found; no secret is shorter. */
const prefixLength = 6;

/** Secrets with one beginning. */
interface Alike {
  readonly forms: Set<string>;
  /** Their lengths, descending. */
  readonly lengths: number[];
}

/** Finds the secrets of a list in texts, in time that does not depend on their number. */
export class SecretIndex {
  readonly #byPrefix = new Map<string, Alike>();

  /** @param forms Secrets of at least six characters, the longest first. */
  constructor(forms: readonly string[]) {
    for (const form of forms) {
      const { forms: alike, lengths } = getOrCreate(
        this.#byPrefix,
        form.slice(0, prefixLength),
        (): Alike => ({ forms: new Set(), lengths: [] }),
      );
      alike.add(form);
      if (lengths.at(-1) !== form.length) lengths.push(form.length);
    }
  }

  /** Replaces secrets in a text; those that overlap are replaced together. */
  redact(text: string): string {
    let redacted = "";
    let writtenTo = 0;
    let [start, end] = [-1, -1];
    for (let at = 0; at + prefixLength <= text.length; at++) {
      const length = this.#findAt(text, at);
      if (length === undefined) continue;
      if (start >= 0 && at >= end) {
        redacted += `${text.slice(writtenTo, start)}[redacted]`;
        writtenTo = end;
        start = -1;
      }
      if (start < 0) start = at;
      end = Math.max(end, at + length);
    }
    return start < 0 ? text : `${redacted}${text.slice(writtenTo, start)}[redacted]${text.slice(end)}`;
  }

  /** The length of the longest secret that begins at a position. */
  #findAt(text: string, at: number): number | undefined {
    const alike = this.#byPrefix.get(text.slice(at, at + prefixLength));
    return alike?.lengths.find((length) => alike.forms.has(text.slice(at, at + length)));
  }
}
