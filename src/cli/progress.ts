/**
 * Shows the progress of long operations.
 * @module
 */
import type { Output } from "../contracts/shell.ts";

/** Erases the current line of a terminal. */
const erase = "\r\x1b[K";

/** A line of a terminal with the current progress; each text replaces the previous one. Nothing is shown elsewhere. */
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

  /** Erases the line. */
  end(): void {
    if (this.#isShown) this.#output.write(erase);
    this.#isShown = false;
  }
}
