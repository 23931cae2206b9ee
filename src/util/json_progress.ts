/**
 * Tracks the progress of JSON text that arrives in pieces.
 * @module
 */

const quote = 0x22;
const backslash = 0x5c;
const openings: ReadonlySet<number> = /* @__PURE__ */ new Set([0x7b, 0x5b]);
const closings: ReadonlySet<number> = /* @__PURE__ */ new Set([0x7d, 0x5d]);

/** Whether the pieces so far are a complete object or array. Each piece is read once. */
export class JsonProgress {
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  #isComplete = false;

  /** Whether the last bracket is closed. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /**
   * Adds a piece.
   *
   * @param text The next characters.
   */
  add(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isString) {
        if (code === quote) this.#isString = false;
        else if (code === backslash) this.#isEscaped = true;
      } else if (code === quote) this.#isString = true;
      else if (openings.has(code)) this.#depth++;
      else if (closings.has(code)) this.#isComplete = --this.#depth === 0;
    }
  }
}
