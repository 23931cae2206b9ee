/**
 * Converts chat chunks to the numbered events of a streaming response.
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk, JsonObject } from "../../contracts/openai.ts";
import type { DialectFault, EventTranslator } from "../dialect.ts";
import { formatFailure } from "./_errors.ts";
import { ResponseOutput } from "./_output.ts";

/**
 * Converts a complete response.
 *
 * @param completion The response; its first choice is used, since Responses supports one.
 */
export function formatCompleteResponse(body: JsonObject, completion: ChatCompletion): JsonObject {
  const output = new ResponseOutput(body, () => {});
  output.start(completion);
  const choices = completion.choices.map(({ message, ...choice }) => ({ ...choice, delta: message }));
  output.add({ choices: choices as ChatCompletionChunk["choices"], usage: completion.usage ?? null });
  return output.end();
}

/** Translates a streaming response. */
export class ResponseEvents implements EventTranslator {
  readonly #output: ResponseOutput;
  /** Events that are not yet sent. */
  #text = "";
  #number = 0;

  /** @param body The request. */
  constructor(body: JsonObject) {
    this.#output = new ResponseOutput(body, (type, event) => {
      this.#text += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#number++, ...event })}\n\n`;
    });
  }

  push(chunk: ChatCompletionChunk): string {
    if (!this.#output.hasStarted) this.#output.start(chunk);
    this.#output.add(chunk);
    return this.#take();
  }

  end(): string {
    this.#output.end();
    return this.#take();
  }

  fail(fault: DialectFault): string {
    this.#output.fail(formatFailure(fault));
    return this.#take();
  }

  passed(chunk: ChatCompletionChunk): void {
    if (!this.#output.hasStarted) {
      this.#output.start(chunk, chunk.id);
      this.#take();
      this.#number = 0;
    }
    this.#number++;
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}
