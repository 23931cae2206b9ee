/**
 * A connection: buffers unread input, and detects closure while no input is expected.
 * @module
 */
import { OutputBuffer } from "./request.ts";

/** Buffer size, initial and maximum, bytes. Reads that fill the buffer enlarge it. */
const firstBytes = 4096;
const maxBytes = 64 * 1024;

/** Maximum buffer size of an idle connection, bytes. */
const maxIdleBytes = 16 * 1024;

/** A connection of the runtime, with or without TLS. */
export interface Socket {
  /** Resolves with the number of bytes read; null at end of stream. */
  read(into: Uint8Array): Promise<number | null>;
  /** Resolves with the number of bytes written, which may be fewer than passed. */
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
  /** Keeps the process alive while the connection is open; {@linkcode unref} does not. */
  ref?(): void;
  unref?(): void;
}

const nothing = new Uint8Array(0);

const ignore = (): void => {};

/** A connection whose input is buffered. */
export class Connection {
  /** Buffer with the unread input, from {@linkcode start} to {@linkcode end}. */
  bytes: Uint8Array = new Uint8Array(firstBytes);
  start: number = 0;
  end: number = 0;
  /** When it last became idle, monotonic ms. */
  idleSince: number = 0;
  /** Whether the current request has been written. */
  isWritten: boolean = false;
  /** Encodes what is written. Its result is valid until the next call. */
  readonly output: OutputBuffer = new OutputBuffer();
  readonly #socket: Socket;
  readonly #onDeath: (connection: Connection) => void;
  #armed: Promise<number | null> | undefined;
  #unwritten: Uint8Array = nothing;
  #isIdle = false;
  #isClosed = false;

  /** @param onDeath Called when the peer ends the connection while it is idle. */
  constructor(socket: Socket, onDeath: (connection: Connection) => void) {
    this.#socket = socket;
    this.#onDeath = onDeath;
  }

  /**
   * Writes a request of one chunk. Errors are left to the reader, since a server may have responded before it stopped
   * reading.
   */
  send(bytes: Uint8Array): void {
    this.isWritten = false;
    this.#unwritten = bytes;
    this.#socket.write(bytes).then(this.#onWritten, ignore);
  }

  readonly #onWritten = (written: number): void => {
    if (written < this.#unwritten.length) return this.send(this.#unwritten.subarray(written));
    this.#unwritten = nothing;
    this.isWritten = true;
  };

  /** Writes all bytes. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.#socket.write(at === 0 ? bytes : bytes.subarray(at));
  }

  /** Starts a read into the buffer. Its result must be passed to {@linkcode Connection.received}. */
  next(): Promise<number | null> {
    const armed = this.#armed;
    this.#armed = undefined;
    return armed ?? this.#socket.read(this.#room());
  }

  /** Counts bytes that were read into the buffer; returns false at end of stream. */
  received(read: number | null): boolean {
    this.end += read ?? 0;
    return read !== null;
  }

  /** Marks the connection as idle. It is closed when the peer closes it or sends unsolicited data. */
  park(now: number): void {
    this.idleSince = now;
    this.#isIdle = true;
    this.start = this.end = 0;
    if (this.bytes.length > maxIdleBytes) this.bytes = new Uint8Array(firstBytes);
    this.#armed = this.#socket.read(this.bytes);
    this.#armed.then(this.#onInput, this.#onInput);
    this.#socket.unref?.();
  }

  /** Marks the connection as in use. */
  wake(): void {
    this.#isIdle = false;
    this.#socket.ref?.();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#armed?.catch(() => {}); // no reader is left for its error
    try {
      this.#socket.close();
    } catch {
      // the runtime has closed it already
    }
  }

  readonly #onInput = (): void => {
    if (!this.#isIdle) return; // the current call reads the result
    this.#isIdle = false;
    this.close();
    this.#onDeath(this);
  };

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

/** Idle timeout of a connection, ms: load balancers drop idle connections silently. */
const idleMs = 45_000;

/** Minimum interval of checks for timed-out connections, ms. */
const lookMs = 10_000;

/** Maximum idle connections per origin; excess connections are closed. */
const maxIdle = 256;

/** Idle connections. The most recently used one is reused first, so that the others can time out. */
export class ConnectionPool {
  readonly #idle = new Map<string, Connection[]>();
  #nextLookAt = 0;

  /** Returns a new connection, which is in use. */
  add(origin: string, socket: Socket): Connection {
    return new Connection(socket, (connection) => this.#remove(origin, connection));
  }

  /** Removes and returns an idle connection; undefined if there is none. */
  take(origin: string, now: number): Connection | undefined {
    if (now >= this.#nextLookAt) this.#closeOld(now);
    const connection = this.#idle.get(origin)?.pop();
    connection?.wake();
    return connection;
  }

  /** Adds a connection whose last response is complete. */
  put(origin: string, connection: Connection, now: number): void {
    const list = this.#idle.get(origin);
    if (list === undefined) this.#idle.set(origin, [connection]);
    else if (list.length < maxIdle) list.push(connection);
    else return connection.close();
    connection.park(now);
  }

  #remove(origin: string, connection: Connection): void {
    const list = this.#idle.get(origin);
    const index = list?.indexOf(connection) ?? -1;
    if (index >= 0) list!.splice(index, 1);
    if (list?.length === 0) this.#idle.delete(origin);
  }

  /** Runs on some requests: a timer per connection would cost more than the request's own. */
  #closeOld(now: number): void {
    this.#nextLookAt = now + lookMs;
    for (const [origin, list] of this.#idle) {
      const young = list.findIndex(({ idleSince }) => now - idleSince < idleMs);
      for (const connection of list.splice(0, young < 0 ? list.length : young)) {
        connection.wake(); // `close` must not call back
        connection.close();
      }
      if (list.length === 0) this.#idle.delete(origin);
    }
  }
}
