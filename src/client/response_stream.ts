/**
 * The stream of a response of the Responses API.
 * @module
 */
import type { ResponseEvent } from "../contracts/responses.ts";
import type { EventTranslator } from "../dialects/dialect.ts";
import { MeshError, StreamInterruptedError } from "../errors.ts";
import type { EventStream } from "../pipeline/committed_stream.ts";
import { SseParser } from "../util/sse_parse.ts";

/** The parts of a {@linkcode ResponseStream} other than its chunks. */
interface StreamParts {
  /** The request's id, for error messages. */
  readonly requestId: string;
  /** Translates chunks that are not native events of the provider. */
  readonly translator: EventTranslator;
}

/**
 * The events of a streamed response. The stream can be iterated once; leaving the loop early cancels the provider's
 * call.
 *
 * @example
 * ```ts
 * import { create } from "@modelmesh/core";
 *
 * const client = create("chat-completion");
 * const stream = await client.responses.create({ input: "Hello", stream: true });
 * for await (const event of stream) if (event.type === "response.output_text.delta") console.log(event.delta);
 * ```
 */
export class ResponseStream implements AsyncIterable<ResponseEvent> {
  readonly #stream: EventStream;
  readonly #parts: StreamParts;
  readonly #parser: SseParser = new SseParser();
  #isNative = false;
  #isConsumed = false;
  #text = "";

  /**
   * Creates the stream.
   *
   * @param stream The source of chunks.
   * @param parts The event translator, and the request's id.
   */
  constructor(stream: EventStream, parts: StreamParts) {
    this.#stream = stream;
    this.#parts = parts;
  }

  /** Cancels the stream. It counts neither as a success nor as a failure of the model. */
  cancel(): void {
    this.#stream.cancel();
  }

  /**
   * Iterates over the events.
   *
   * @throws {StreamInterruptedError} From the iterator, when the provider fails midway. It carries the text received so
   * far.
   */
  [Symbol.asyncIterator](): AsyncGenerator<ResponseEvent, undefined> {
    if (this.#isConsumed) throw new MeshError("Cannot read a stream twice", { code: "stream_consumed" });
    this.#isConsumed = true;
    return this.#events();
  }

  async *#events(): AsyncGenerator<ResponseEvent, undefined> {
    const { translator, requestId } = this.#parts;
    try {
      for (let chunk = await this.#stream.read(); chunk !== undefined; chunk = await this.#stream.read()) {
        this.#isNative ||= chunk.native !== undefined;
        const values = [chunk.value, ...chunk.others ?? []];
        const text = this.#isNative ? chunk.native ?? "" : values.map((value) => translator.push(value)).join("");
        this.#text += values.map(({ choices }) => choices[0]?.delta?.content ?? "").join("");
        yield* this.#read(text);
      }
      if (!this.#isNative) yield* this.#read(translator.end());
    } catch (error) {
      this.#stream.cancel(error); // still open if the translator failed
      if (!StreamInterruptedError.isInstance(error)) throw error;
      const interrupted = new StreamInterruptedError(error.message, this.#text, error);
      interrupted.requestId = requestId;
      throw interrupted;
    } finally {
      this.#stream.cancel(); // no effect on a stream that has ended
    }
  }

  *#read(text: string): Generator<ResponseEvent> {
    for (const { data } of this.#parser.push(text)) yield JSON.parse(data);
  }
}
