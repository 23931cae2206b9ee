/**
 * Estimated output tokens of responses without usage.
 * @module
 */
import { addText, emptyText } from "../util/text_size.ts";
import { countTokens } from "./estimate.ts";

/** A choice of a complete response or of a stream event. */
interface Choice {
  readonly message?: unknown;
  readonly delta?: unknown;
}

const textFields = ["content", "refusal", "reasoning_content", "reasoning"];

/** Estimates output tokens from the text of a response, high as `estimateTokens`, for budgets and limits. */
export class OutputEstimate {
  readonly #size = emptyText();

  /** Adds the text of a response, or of a stream event. */
  add(choices: readonly Choice[]): this {
    for (const { message, delta = message } of choices) this.#addPart(Object(delta));
    return this;
  }

  /** Output tokens so far. */
  get tokens(): number {
    return Math.ceil(countTokens(this.#size));
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
