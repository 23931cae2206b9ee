/**
 * Concatenates chunks, and reads bodies up to a size limit.
 * @module
 */
import type { UpstreamResponse } from "../contracts/runtime.ts";
import type { PlainResponse, PlainStream } from "../contracts/shell.ts";

/** Concatenates chunks. A single chunk is returned as it is. */
export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** Size limit of a body. */
interface ReadLimit {
  /** Maximum number of bytes. */
  readonly maxBytes: number;
  /** Creates the error for a larger body. */
  readonly tooLarge: () => Error;
}

/**
 * Reads a source to its end.
 *
 * @param reader The source; null for an empty body.
 * @param limit Size limit. A source that exceeds it is cancelled.
 */
export async function readAll(
  reader: { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>; cancel(): Promise<void> } | null,
  { maxBytes, tooLarge }: ReadLimit,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader?.read() ?? { done: true };
    if (done || value === undefined) return concat(chunks);
    size += value.length;
    if (size > maxBytes) {
      await reader!.cancel().catch(() => {}); // the size error is what the caller needs
      throw tooLarge();
    }
    chunks.push(value);
  }
}

/** Reads the whole body of a response. */
export function readBody(response: UpstreamResponse, limit: ReadLimit): Uint8Array | Promise<Uint8Array> {
  // a declared size within the limit makes counting unnecessary
  const declared = Number(response.headers.get("content-length") ?? Infinity);
  if (response.bytes !== undefined && declared <= limit.maxBytes) return response.bytes();
  return readAll(response.reader(), limit);
}

/**
 * Whether a request body is a stream of chunks.
 *
 * @param body The request body.
 */
export function isIncoming(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

const encoder = new TextEncoder();

/** Maximum length of a text that shares a buffer with others, characters. */
const maxPooledChars = 1024;
const poolBytes = 8 * 1024;
let pool = /* @__PURE__ */ new Uint8Array(0);
let poolStart = 0;

/**
 * Encodes a text for a reader that passes no buffer on. Short texts share buffers, since creating one takes longer than
 * encoding a text.
 */
export function encodePooled(text: string): Uint8Array {
  if (text.length > maxPooledChars) return encoder.encode(text);
  if (poolStart + text.length * 3 > pool.length) {
    pool = new Uint8Array(poolBytes);
    poolStart = 0;
  }
  const { written } = encoder.encodeInto(text, pool.subarray(poolStart));
  const end = poolStart + written;
  const bytes = pool.subarray(poolStart, end);
  poolStart = end;
  return bytes;
}

export function isStream(body: PlainResponse["body"]): body is PlainStream {
  return typeof body === "object" && body !== null && "read" in body;
}

function encode(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * Converts a body to a `ReadableStream`, which is at most one chunk ahead of its reader.
 *
 * @param encodeText Encodes its texts.
 * @default into a buffer each
 */
export function toReadable(
  body: PlainStream,
  encodeText: (text: string) => Uint8Array = encode,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(new PushSource(body, encodeText), { highWaterMark: 0 });
}

/** Pushes chunks as they arrive: a stream that asks for each of them creates several promises per chunk. */
class PushSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #body: PlainStream;
  readonly #encode: (text: string) => Uint8Array;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #isReading = false;
  #isOver = false;

  constructor(body: PlainStream, encode: (text: string) => Uint8Array) {
    this.#body = body;
    this.#encode = encode;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#body.onStop = this.#fail;
  }

  pull(): void {
    if (this.#isReading || this.#isOver) return;
    this.#isReading = true;
    this.#body.read().then(this.#push, this.#fail);
  }

  cancel(): void {
    this.#isOver = true;
    this.#body.cancel();
  }

  readonly #push = (chunk: Uint8Array | string | undefined): void => {
    this.#isReading = false;
    if (this.#isOver) return; // cancelled, or broken off, while the chunk was being read
    const controller = this.#controller;
    if (chunk === undefined) {
      this.#isOver = true;
      return controller.close();
    }
    controller.enqueue(typeof chunk === "string" ? this.#encode(chunk) : chunk);
    if (controller.desiredSize === 0) this.pull(); // a reader was waiting for it
  };

  readonly #fail = (reason: unknown): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.error(reason);
  };
}

/** Converts a `ReadableStream` to a body. */
export function toPlainStream(body: ReadableStream<Uint8Array>): PlainStream {
  const reader = body.getReader();
  return {
    read: async () => (await reader.read()).value,
    cancel: () => void reader.cancel().catch(() => {}), // rejects if the stream has failed
  };
}
