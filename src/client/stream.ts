/**
 * The stream of a chat completion.
 * @module
 */
import type { ChatCompletionChunk } from "../contracts/openai.ts";
import { MeshError, StreamInterruptedError } from "../errors.ts";
import type { EventStream } from "../pipeline/committed_stream.ts";

/**
 * The chunks of a streamed chat completion. The stream can be iterated once; leaving the loop early cancels the
 * provider's call.
 *
 * @example
 * ```ts
 * import { create } from "@modelmesh/core";
 *
 * const client = create("chat-completion");
 * const stream = await client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }], stream: true });
 * for await (const chunk of stream) console.log(chunk.choices[0]?.delta.content ?? "");
 * ```
 */
export class ChatStream implements AsyncIterable<ChatCompletionChunk> {
  readonly #stream: EventStream;
  readonly #requestId: string;
  #isOver = false;
  #isConsumed = false;
  #text = "";

  /**
   * Creates the stream.
   *
   * @param stream The source of chunks.
   * @param requestId The request's id, for error messages.
   */
  constructor(stream: EventStream, requestId: string) {
    this.#stream = stream;
    this.#requestId = requestId;
  }

  /** Cancels the stream. It counts neither as a success nor as a failure of the model. */
  cancel(): void {
    this.#stream.cancel();
  }

  /**
   * Iterates over the chunks.
   *
   * @throws {StreamInterruptedError} From the iterator, when the provider fails midway. It carries the text received so
   * far.
   */
  [Symbol.asyncIterator](): AsyncIterator<ChatCompletionChunk, undefined> {
    if (this.#isConsumed) throw new MeshError("Cannot read a stream twice", { code: "stream_consumed" });
    this.#isConsumed = true;
    return {
      next: () => this.#next(),
      return: () => {
        this.#stream.cancel();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  async #next(): Promise<IteratorResult<ChatCompletionChunk, undefined>> {
    if (this.#isOver) return { done: true, value: undefined }; // like a generator that has thrown
    try {
      let chunk = await this.#stream.read();
      while (chunk?.isPing) chunk = await this.#stream.read();
      if (chunk === undefined) return { done: true, value: undefined };
      this.#text += chunk.value.choices[0]?.delta?.content ?? "";
      return { done: false, value: chunk.value };
    } catch (error) {
      this.#isOver = true;
      if (!StreamInterruptedError.isInstance(error)) throw error;
      const interrupted = new StreamInterruptedError(error.message, this.#text, error);
      interrupted.requestId = this.#requestId;
      throw interrupted;
    }
  }
}
