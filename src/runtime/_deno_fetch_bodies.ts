/**
 * Bodies of requests and responses of Deno's `fetch`.
 * @module
 */
import type { BodyReader } from "../contracts/runtime.ts";

/** The body of a request, complete. */
export type SentOnceParts = string | Uint8Array | readonly Uint8Array[];

const encoder = new TextEncoder();

/**
 * A body that `fetch` sends once, with its length. Text and bytes are sent again (2.9.6) if the server closes a reused
 * connection before it responds, which it may do after it has begun to generate. A stream is sent once, but without a
 * length; a `Blob` with its length, but each of its parts is read back by an operation of its own: this one has none.
 */
export class SentOnce extends Blob {
  readonly #chunks: readonly Uint8Array[];

  constructor(parts: SentOnceParts) {
    super();
    this.#chunks = typeof parts === "string" ? [encoder.encode(parts)] : parts instanceof Uint8Array ? [parts] : parts;
  }

  override get size(): number {
    return this.#chunks.reduce((size, { length }) => size + length, 0);
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const chunks = this.#chunks as readonly Uint8Array<ArrayBuffer>[];
    return new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
  }
}

/** Size of the read buffer, initial and maximum, bytes. Reads that fill the buffer enlarge it. */
const firstBytes = 4096;
const maxBytes = 64 * 1024;

/** Reads a body into one buffer, and hands out copies: an event is much shorter than a buffer, whose allocation costs more. */
export class ByobReader implements BodyReader {
  readonly #reader: ReadableStreamBYOBReader;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(firstBytes);
  #lends = false;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader({ mode: "byob" });
  }

  async read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    const { done, value } = await this.#reader.read(this.#buffer);
    if (done || value === undefined) return { done: true, value: undefined };
    const { length, buffer } = value;
    if (length < buffer.byteLength) {
      this.#buffer = new Uint8Array(buffer);
      return { done: false, value: this.#lends ? value : value.slice() };
    }
    this.#buffer = new Uint8Array(Math.min(length * 4, maxBytes));
    return { done: false, value };
  }

  lend(): void {
    this.#lends = true;
  }

  cancel(reason?: unknown): Promise<void> {
    return this.#reader.cancel(reason);
  }
}
