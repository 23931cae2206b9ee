/**
 * Reads a body from its connection.
 * @module
 */
import type { BodyReader } from "../../contracts/runtime.ts";
import { concat } from "../../util/bytes.ts";
import { ChunkedDecoder } from "./chunked.ts";
import type { Connection } from "./connection.ts";
import { MalformedMessage } from "./malformed.ts";
import { type ResponseHead, trimBlanks } from "./response_head.ts";

/** A truncated message: the connection closed before the message was complete. */
export class CutMessage extends Error {
  override readonly name = "CutMessage";
}

const textDecoder = new TextDecoder();

/** First byte of the byte order mark, which decoding removes. */
const firstOfMark = 0xef;

/** The call whose response a {@linkcode Body} is part of. */
export interface BodyOwner {
  /** Called when bytes are received. */
  readonly onBytes: (() => void) | undefined;
  /** Called at the end of the body. */
  end(): void;
  /** Called when the reader cancels. */
  cancel(): void;
  /** Closes the connection after an error, and returns the error to throw. */
  fail(error: unknown, where: string): unknown;
}

/** Reads a body, and no byte beyond its end. */
export class Body implements BodyReader {
  readonly #connection: Connection;
  readonly #owner: BodyOwner;
  readonly #decoder: ChunkedDecoder | undefined;
  readonly #isUntilClose: boolean;
  /** Remaining bytes; `Infinity` if unknown. */
  #left: number;
  #isOver = false;
  /** Bytes that were taken, and are still to be read. */
  #returned: Uint8Array | undefined;
  /** Whether chunks are views of the connection's buffer. */
  #lends = false;

  constructor(connection: Connection, { framing, owner }: { readonly framing: Framing; readonly owner: BodyOwner }) {
    this.#connection = connection;
    this.#owner = owner;
    this.#decoder = framing === "chunked" ? new ChunkedDecoder() : undefined;
    this.#isUntilClose = framing === "close";
    this.#left = typeof framing === "number" ? framing : Infinity;
    if (this.#left === 0) this.#end();
  }

  /**
   * Reads the next bytes. Creates few promises, since a stream calls it for each event.
   *
   * @throws Result of `fail` for a `MalformedMessage`, and for a `CutMessage` when the
   * connection closes before the end of the body.
   */
  read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    try {
      const result = this.#takeResult();
      return result === undefined ? this.#connection.next().then(this.#readOn, this.#fail) : Promise.resolve(result);
    } catch (error) {
      return Promise.reject(this.#failed(error));
    }
  }

  lend(): void {
    this.#lends = true;
  }

  /** Takes the body without waiting, if it has been received and has a length; undefined otherwise. */
  received(): Uint8Array | undefined {
    const { start, end } = this.#connection;
    return this.#left <= end - start && !this.#isOver ? this.#take() : undefined;
  }

  /**
   * Takes the body as text, if it has been received and its bytes are those of the text. It costs less than a copy of
   * the bytes. Throws like {@linkcode read}.
   */
  receivedText(): string | undefined {
    const { start, end } = this.#connection;
    if (this.#isOver || this.#decoder === undefined && this.#left > end - start) return undefined;
    try {
      const data = this.#takeLent();
      const text = data === undefined || !this.#isComplete() ? undefined : toExactText(data);
      if (text === undefined) this.#returned = data?.slice();
      if (this.#isComplete()) this.#end();
      return text;
    } catch (error) {
      throw this.#owner.fail(error, "in the middle of its response");
    }
  }

  /** Reads the remaining body. Throws like {@linkcode read}. */
  async readAll(): Promise<Uint8Array> {
    const connection = this.#connection;
    const chunks: Uint8Array[] = [];
    try {
      for (;;) {
        const value = this.#take();
        if (value !== undefined) chunks.push(value);
        if (this.#isOver) return concat(chunks);
        if (value === undefined) this.#receive(await connection.next());
      }
    } catch (error) {
      throw this.#failed(error);
    }
  }

  cancel(): Promise<void> {
    if (!this.#isOver) this.#owner.cancel();
    return Promise.resolve();
  }

  #failed(error: unknown): unknown {
    return this.#owner.fail(error, "in the middle of its response");
  }

  readonly #fail = (error: unknown): never => {
    throw this.#failed(error);
  };

  readonly #readOn = (
    read: number | null,
  ): ReadableStreamReadResult<Uint8Array> | Promise<ReadableStreamReadResult<Uint8Array>> => {
    try {
      this.#receive(read);
      return this.#takeResult() ?? this.#connection.next().then(this.#readOn, this.#fail);
    } catch (error) {
      throw this.#failed(error);
    }
  };

  /** Returns what has been received, or the end; undefined if there is nothing yet. */
  #takeResult(): ReadableStreamReadResult<Uint8Array> | undefined {
    const value = this.#take();
    if (value !== undefined) return { done: false, value };
    return this.#isOver ? { done: true, value } : undefined;
  }

  #receive(read: number | null): void {
    if (this.#connection.received(read)) return this.#owner.onBytes?.();
    if (!this.#isUntilClose) throw new CutMessage("before its end");
    this.#end();
  }

  /** Removes received body bytes from the buffer; undefined if there are none. */
  #take(): Uint8Array | undefined {
    const returned = this.#returned;
    this.#returned = undefined;
    if (returned !== undefined || this.#isOver) return returned;
    const lent = this.#takeLent();
    const isComplete = this.#isComplete();
    const data = this.#lends && !isComplete ? lent : lent?.slice(); // the end may start another read
    if (isComplete) this.#end();
    return data;
  }

  /** Removes received body bytes from the buffer, and returns a part of it, which is valid until the next read. */
  #takeLent(): Uint8Array | undefined {
    const connection = this.#connection;
    const { bytes, start, end } = connection;
    if (start === end) return undefined;
    let dataEnd = Math.min(end, start + this.#left);
    if (this.#decoder === undefined) {
      this.#left -= dataEnd - start;
      connection.start = dataEnd;
    } else {
      dataEnd = this.#decoder.decode(bytes, start, end);
      connection.start = this.#decoder.consumed;
    }
    return dataEnd === start ? undefined : bytes.subarray(start, dataEnd);
  }

  #isComplete(): boolean {
    return this.#left === 0 || this.#decoder?.isOver === true;
  }

  #end(): void {
    this.#isOver = true;
    this.#owner.end();
  }
}

/** Decodes UTF-8; undefined unless encoding the text results in the same bytes. */
function toExactText(bytes: Uint8Array): string | undefined {
  const text = textDecoder.decode(bytes);
  return bytes[0] === firstOfMark || text.includes("\ufffd") ? undefined : text;
}

/** How the end of a body is determined: by its length, by a coding, or by the end of the connection. */
type Framing = number | "chunked" | "close";

/**
 * Returns the framing of a response body.
 *
 * @param method Method of the request.
 * @throws {MalformedMessage} When the fields contradict each other or the status: client and server could disagree on
 * where the next response starts.
 */
export function responseFraming({ status, minor, fields }: ResponseHead, method: string): Framing {
  const coding = fields.get("transfer-encoding");
  const lengths = fields.get("content-length");
  if (coding !== null && lengths !== null) throw new MalformedMessage("a length beside a transfer coding");
  const length = lengths === null ? undefined : parseLength(lengths);
  if (status < 200 && minor === 0) throw new MalformedMessage("an interim response in HTTP/1.0");
  if (status < 200 || status === 204) {
    if (coding !== null || (length ?? 0) > 0) throw new MalformedMessage("a body where none may be");
    return 0;
  }
  if (coding !== null && (minor === 0 || coding.toLowerCase() !== "chunked")) {
    throw new MalformedMessage("an unknown transfer coding");
  }
  if (status === 304 || method === "HEAD") return 0;
  return coding !== null ? "chunked" : length ?? "close";
}

/** Accepts a repeated length, also within one field, if all values are equal. */
function parseLength(value: string): number {
  const length = Number(value);
  if (digits.test(value) && length <= Number.MAX_SAFE_INTEGER) return length;
  const [first = "", ...others] = value.split(",").map((part) => trimBlanks(part));
  if (others.length === 0 || others.some((other) => other !== first)) throw new MalformedMessage("an invalid length");
  return parseLength(first);
}

const digits = /^\d+$/;

/** Whether the connection is persistent. Keep-alive of HTTP/1.0 is not supported: it is hardly used. */
export function isPersistent({ minor, fields }: Omit<ResponseHead, "status">): boolean {
  const connection = fields.get("connection");
  return minor === 1 && (connection === null || !/(^|[ \t,])close($|[ \t,])/i.test(connection));
}
