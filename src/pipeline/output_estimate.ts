/**
 * The tokens of an answer whose provider does not say them.
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

/** Estimates what was written from what it says, high as {@linkcode estimateTokens} does: for money and for limits. */
export class OutputEstimate {
  readonly #size = emptyText();

  /**
   * Adds what an answer, or an event of it, says.
   *
   * @param choices Its choices.
   */
  add(choices: readonly Choice[]): this {
    for (const { message, delta = message } of choices) this.#addPart(Object(delta));
    return this;
  }

  /** What was written by now. */
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
