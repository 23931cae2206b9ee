/**
 * How far long work is.
 * @module
 */
import type { Output } from "../contracts/shell.ts";

/** Erases a terminal's line, and goes back to its start. */
const erase = "\r\x1b[K";

/** A line of a terminal that says how far work is: each text takes the place of the one before. Elsewhere there is none. */
export class ProgressLine {
  readonly #output: Output;
  #isShown = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Shows a text. */
  show(text: string): void {
    if (!this.#output.isTerminal) return;
    this.#isShown = true;
    this.#output.write(erase + text);
  }

  /** Leaves nothing of it. */
  end(): void {
    if (this.#isShown) this.#output.write(erase);
    this.#isShown = false;
  }
}
