/**
 * A streamed response as a program reads it.
 * @module
 */
import type { ResponseEvent } from "../contracts/responses.ts";
import type { EventTranslator } from "../dialects/dialect.ts";
import { MeshError, StreamInterruptedError } from "../errors.ts";
import type { AnswerStream } from "../pipeline/answer_stream.ts";
import { SseParser } from "../util/sse_parse.ts";

/** What a {@linkcode ResponseStream} is made of beside its chunks. */
interface StreamParts {
  /** For errors. */
  readonly requestId: string;
  /** Makes events of what is no event of the provider's own. */
  readonly translator: EventTranslator;
}

/**
 * The events of a response, once. Leaving the loop early ends the provider's call.
 *
 * @example
 * ```ts ignore
 * const stream = await client.responses.create({ input: "Hello", stream: true });
 * for await (const event of stream) if (event.type === "response.output_text.delta") console.log(event.delta);
 * ```
 */
export class ResponseStream implements AsyncIterable<ResponseEvent> {
  readonly #stream: AnswerStream;
  readonly #parts: StreamParts;
  readonly #parser: SseParser = new SseParser();
  #isNative = false;
  #isTaken = false;
  #text = "";

  /**
   * Makes one.
   *
   * @param stream Where the chunks come from.
   * @param parts What makes events of them.
   */
  constructor(stream: AnswerStream, parts: StreamParts) {
    this.#stream = stream;
    this.#parts = parts;
  }

  /** Ends the stream early; no failure of anybody. */
  cancel(): void {
    this.#stream.cancel();
  }

  /**
   * The events.
   *
   * @throws {StreamInterruptedError} From the iterator, when the provider fails midway; it carries the text so far.
   */
  [Symbol.asyncIterator](): AsyncGenerator<ResponseEvent, undefined> {
    if (this.#isTaken) throw new MeshError("Cannot read a stream twice", { code: "stream_consumed" });
    this.#isTaken = true;
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
      if (!StreamInterruptedError.isInstance(error)) throw error;
      const interrupted = new StreamInterruptedError(error.message, this.#text);
      interrupted.requestId = requestId;
      throw interrupted;
    } finally {
      this.#stream.cancel(); // of one that is over it is nothing
    }
  }

  *#read(text: string): Generator<ResponseEvent> {
    for (const { data } of this.#parser.push(text)) yield JSON.parse(data);
  }
}
