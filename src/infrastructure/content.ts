/**
 * Streams of file content: peeking, counting and validating.
 * @module
 */
import { concat } from "../util/bytes.ts";
import { Queue } from "../util/queue.ts";
import { type Line, LineSplitter, parseLineObject } from "./json_lines.ts";

/** Maximum line length of a training file, bytes. */
const maxLineBytes = 32 * 1024 * 1024;

/** A stream whose beginning can be read in advance. */
export class PeekableContent implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #buffered = new Queue<Uint8Array>();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns the beginning, up to the end of the first line or slightly more than `maxBytes`. */
  async peek(maxBytes: number): Promise<Uint8Array> {
    let size = 0;
    for (let isOpen = true; isOpen && size <= maxBytes;) {
      const { done, value } = await this.#source.next();
      if (done) break;
      this.#buffered.push(value);
      size += value.length;
      isOpen = !value.includes(10);
    }
    return concat([...this.#buffered]);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let chunk = this.#buffered.shift(); chunk !== undefined; chunk = this.#buffered.shift()) yield chunk;
    for (;;) {
      const { done, value } = await this.#source.next();
      if (done) return;
      yield value;
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

/** A stream that counts its bytes, and fails when it exceeds a limit. */
export class CountedContent implements AsyncIterable<Uint8Array> {
  /** Number of bytes read. */
  bytes = 0;
  limit: { readonly maxBytes: number; readonly tooLarge: () => Error } | undefined;
  readonly #source: AsyncIterable<Uint8Array>;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#source) {
      this.bytes += chunk.length;
      if (this.bytes > (this.limit?.maxBytes ?? Infinity)) throw this.limit!.tooLarge();
      yield chunk;
    }
  }
}

/** A stream that passes JSON lines on unchanged, and validates them. */
export class JsonLinesCheck implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #throws: boolean;
  #broken: unknown;

  /**
   * @param throws Whether an invalid line fails the stream immediately; otherwise {@linkcode
   * JsonLinesCheck.throwIfBroken} reports it.
   */
  constructor(source: AsyncIterable<Uint8Array>, throws: boolean) {
    this.#source = source;
    this.#throws = throws;
  }

  throwIfBroken(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const splitter = new LineSplitter(maxLineBytes);
    for await (const chunk of this.#source) {
      this.#check(() => splitter.push(chunk));
      yield chunk;
    }
    this.#check(() => splitter.end());
  }

  #check(lines: () => Iterable<Line>): void {
    if (this.#broken !== undefined) return;
    try {
      for (const line of lines()) parseLineObject(line);
    } catch (error) {
      if (this.#throws) throw error;
      this.#broken = error;
    }
  }
}

/** A stream that records whether reading has begun, after which it cannot be sent to another provider. */
export class TrackedContent implements AsyncIterable<Uint8Array> {
  isBegun = false;
  readonly #source: AsyncIterable<Uint8Array>;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    this.isBegun = true;
    yield* this.#source;
  }
}

/** Whether the first line of a file is a batch request. */
export function looksLikeRequests(beginning: Uint8Array): boolean {
  try {
    const [line] = new LineSplitter(maxLineBytes).push(concat([beginning, new Uint8Array([10])]));
    const { custom_id, url, body } = line === undefined ? {} as Record<string, unknown> : parseLineObject(line);
    return custom_id !== undefined && url !== undefined && body !== undefined;
  } catch {
    return false;
  }
}
