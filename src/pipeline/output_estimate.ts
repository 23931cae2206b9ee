/**
 * The tokens of an answer whose provider reports none.
 * @module
 */
import { addText, emptyText } from "../util/text_size.ts";
import { tokensOf } from "./estimate.ts";

/** A choice of a whole answer, or of a stream's event. */
interface Choice {
  readonly message?: unknown;
  readonly delta?: unknown;
}

const textFields = ["content", "refusal", "reasoning_content", "reasoning"];

/** Estimates output tokens from the text of an answer, high as {@linkcode estimateTokens} does: for money and for limits. */
export class OutputEstimate {
  readonly #size = emptyText();

  /**
   * Adds the text of an answer, or of an event of a stream.
   *
   * @param choices Its choices.
   */
  add(choices: readonly Choice[]): this {
    for (const { message, delta = message } of choices) this.#addPart(Object(delta));
    return this;
  }

  /** Tokens written by now. */
  get tokens(): number {
    return Math.ceil(tokensOf(this.#size));
  }

  #addPart(part: Record<string, unknown>): void {
    for (const field of textFields) this.#addText(part[field]);
    const { tool_calls: calls, function_call: call } = part;
    if (call) this.#addCall(call);
    if (Array.isArray(calls)) { for (const one of calls) this.#addCall(Object(one).function); }
  }

  #addCall(call: unknown): void {
    const { name, arguments: given } = Object(call);
    this.#addText(name);
    this.#addText(given);
  }

  #addText(text: unknown): void {
    if (typeof text === "string") addText(text, this.#size);
  }
}
