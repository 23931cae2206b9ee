/**
 * A connection: buffers unread input, and detects closure while no input is expected.
 * @module
 */
import { OutputBuffer } from "./output_buffer.ts";

/** Buffer size, initial and while idle, bytes. Reads that fill the buffer enlarge it up to {@linkcode maxBytes}. */
const idleBytes = 4096;
const maxBytes = 64 * 1024;

/** Maximum number of bytes in one write, so that progress can be observed on all runtimes. */
const maxWriteBytes = 256 * 1024;

/** A connection of the runtime, with or without TLS. */
export interface Socket {
  /** Resolves with the number of bytes read; null at end of stream. */
  read(into: Uint8Array): Promise<number | null>;
  /** Resolves with the number of bytes written, which may be fewer than passed. */
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
  /** Ends the output, and keeps the input open. */
  closeWrite?(): Promise<void>;
  /** Keeps the process alive while the connection is open; {@linkcode unref} does not. */
  ref?(): void;
  unref?(): void;
}

/** A connection whose input is buffered. */
export class Connection {
  /** Buffer with the unread input, from {@linkcode start} to {@linkcode end}. */
  bytes: Uint8Array = new Uint8Array(idleBytes);
  start: number = 0;
  end: number = 0;
  /** When it last became idle, monotonic ms. */
  idleSince: number = 0;
  /** Encodes what is written. Its result is valid until the next call. */
  readonly output: OutputBuffer = new OutputBuffer();
  /** Whether a write is in progress, and the number of bytes written before it. */
  isWriting: boolean = false;
  written: number = 0;
  readonly #socket: Socket;
  #armed: Promise<number | null> | undefined;
  #onDeath: (() => void) | undefined;
  #onEnd: (() => void) | undefined;
  #isEnded = false;
  #isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Writes all bytes. */
  async write(bytes: Uint8Array): Promise<void> {
    this.isWriting = true;
    for (let at = 0; at < bytes.length;) {
      const part = bytes.length <= maxWriteBytes ? bytes : bytes.subarray(0, at + maxWriteBytes);
      const size = await this.#socket.write(at === 0 ? part : part.subarray(at));
      at += size;
      this.written += size;
    }
    this.isWriting = false;
  }

  /**
   * Reads into the buffer, after the unread input.
   *
   * @returns False at end of stream.
   */
  async fill(): Promise<boolean> {
    return this.received(await this.next());
  }

  /** Starts a read into the buffer. Its result must be passed to {@linkcode Connection.received}. */
  next(): Promise<number | null> {
    const armed = this.#armed;
    this.#armed = this.#onEnd = undefined;
    if (this.#isEnded) return Promise.resolve(null);
    return armed ?? this.#socket.read(this.#room());
  }

  /**
   * Reads ahead until {@linkcode next} is called, up to the size of the buffer, so that a disconnect is detected.
   *
   * @param onEnd Called at the end of the stream, and when the connection breaks.
   */
  watch(onEnd: () => void): void {
    if (this.#isEnded || this.#isClosed) return onEnd();
    this.#onEnd = onEnd;
    if (this.#armed !== undefined) return; // a read is pending, since this request came with the one before
    this.#armed = this.#socket.read(this.#room());
    this.#armed.then(this.#onRead, this.#onBroken);
  }

  readonly #onRead = (read: number | null): void => {
    const onEnd = this.#onEnd;
    if (onEnd === undefined) return; // the reader of `next` receives it
    if (read === null) return this.#onBroken();
    this.#armed = this.#onEnd = undefined;
    this.end += read;
    if (this.end - this.start < maxBytes) this.watch(onEnd);
  };

  readonly #onBroken = (): void => {
    const onEnd = this.#onEnd;
    if (onEnd === undefined) return;
    this.#armed = this.#onEnd = undefined;
    this.#isEnded = true;
    onEnd();
  };

  /** Counts bytes that were read into the buffer; returns false at end of stream. */
  received(read: number | null): boolean {
    this.end += read ?? 0;
    return read !== null;
  }

  /** Removes up to `most` bytes of unread input, and returns a copy. */
  take(most: number): Uint8Array {
    const to = Math.min(this.end, this.start + most);
    const taken = this.bytes.slice(this.start, to);
    this.start = to;
    return taken;
  }

  /** Marks the connection as idle. It is closed when the peer closes it or sends unsolicited data. */
  park(now: number, onDeath: () => void): void {
    this.idleSince = now;
    this.#onDeath = onDeath;
    this.start = this.end = 0;
    if (this.bytes.length > idleBytes) this.bytes = new Uint8Array(idleBytes);
    const armed = this.#armed = this.#socket.read(this.bytes);
    const end = () => this.#idleEnd();
    armed.then(end, end);
    this.#socket.unref?.();
  }

  /** Marks the connection as in use. */
  wake(): void {
    this.#onDeath = undefined;
    this.#socket.ref?.();
  }

  /** Ends the output, and keeps the input open; closes both where the runtime cannot. */
  async closeWrite(): Promise<void> {
    if (this.#socket.closeWrite === undefined) this.close();
    else await this.#socket.closeWrite();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onEnd = undefined;
    this.#armed?.catch(() => {}); // no reader is left for its error
    try {
      this.#socket.close();
    } catch {
      // the runtime has closed it already
    }
  }

  #idleEnd(): void {
    const onDeath = this.#onDeath;
    if (onDeath === undefined) return; // in use: the current call reads the result
    this.#onDeath = undefined;
    this.close();
    onDeath();
  }

  /** Returns free space: the whole buffer if it is empty, otherwise after the unread input, making room if full. */
  #room(): Uint8Array {
    if (this.start === this.end) {
      const wasFull = this.end === this.bytes.length;
      this.start = this.end = 0;
      if (wasFull && this.bytes.length < maxBytes) this.bytes = new Uint8Array(this.bytes.length * 4);
    } else if (this.end === this.bytes.length) {
      const grown = new Uint8Array(this.bytes.length * (this.start === 0 ? 2 : 1));
      grown.set(this.bytes.subarray(this.start, this.end));
      this.bytes = grown;
      this.end -= this.start;
      this.start = 0;
    }
    return this.end === 0 ? this.bytes : this.bytes.subarray(this.end);
  }
}
