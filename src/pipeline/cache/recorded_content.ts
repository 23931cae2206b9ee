/**
 * Content such as audio on its way into the cache, and out of it.
 * @module
 */
import { fromBase64, toBase64 } from "../../util/base64.ts";
import { concat } from "../../util/bytes.ts";
import type { ByteStream } from "../content_stream.ts";
import { clientDisconnect } from "../result.ts";
import type { EntryContent } from "./cache_entry.ts";

/** Records content. */
export class RecordedContent implements ByteStream {
  onStop?: (reason: unknown) => void;
  readonly type: string;
  readonly #stream: ByteStream;
  readonly #maxBytes: number;
  #chunks: Uint8Array[] | undefined = [];
  #bytes = 0;
  #isComplete = false;

  /** @param maxBytes Size beyond which nothing is recorded. */
  constructor(stream: ByteStream, maxBytes: number) {
    this.type = stream.type;
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    stream.onStop = (reason) => this.onStop?.(reason);
  }

  /** The content, once it is complete; undefined before, and if it is too long. */
  get content(): EntryContent | undefined {
    if (!this.#isComplete || this.#chunks === undefined) return undefined;
    return { type: this.type, base64: toBase64(concat(this.#chunks)) };
  }

  async read(): Promise<Uint8Array | undefined> {
    const chunk = await this.#stream.read();
    if (chunk === undefined) this.#isComplete = true;
    else this.#record(chunk);
    return chunk;
  }

  cancel(): void {
    this.#chunks = undefined;
    this.#stream.cancel();
  }

  #record(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#chunks = undefined;
    this.#chunks?.push(chunk.slice()); // its buffer may be used again
  }
}

/** Repeats content. */
export class RepeatedContent implements ByteStream {
  onStop?: (reason: unknown) => void;
  readonly type: string;
  readonly #onEnd: (cause?: unknown) => void;
  #bytes: Uint8Array | undefined;

  /** @param onEnd Called once at the end; with a cause if it was left before. */
  constructor({ type, base64 }: EntryContent, onEnd: (cause?: unknown) => void) {
    this.type = type;
    this.#bytes = fromBase64(base64);
    this.#onEnd = onEnd;
  }

  read(): Promise<Uint8Array | undefined> {
    const bytes = this.#bytes;
    this.#bytes = undefined;
    if (bytes === undefined) this.#onEnd();
    return Promise.resolve(bytes);
  }

  cancel(): void {
    this.#bytes = undefined;
    this.#onEnd(clientDisconnect());
  }
}

/** Calls a function once all content has been read, past what checks it. */
export class KeptContent implements ByteStream {
  onStop?: (reason: unknown) => void;
  readonly type: string;
  readonly #stream: ByteStream;
  #keep: (() => void) | undefined;

  constructor(stream: ByteStream, keep: () => void) {
    this.type = stream.type;
    this.#stream = stream;
    this.#keep = keep;
    stream.onStop = (reason) => this.onStop?.(reason);
  }

  async read(): Promise<Uint8Array | undefined> {
    const chunk = await this.#stream.read();
    if (chunk !== undefined) return chunk;
    this.#keep?.();
    this.#keep = undefined;
    return undefined;
  }

  cancel(): void {
    this.#keep = undefined;
    this.#stream.cancel();
  }
}
