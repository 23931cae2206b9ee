/**
 * A connection: buffers unread input, and detects closure while no input is expected.
 * @module
 */
import { OutputBuffer } from "./request.ts";

/** Buffer size, initial and while idle, bytes. Reads that fill the buffer enlarge it up to {@linkcode maxBytes}. */
const idleBytes = 4096;
const maxBytes = 64 * 1024;

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
  readonly #socket: Socket;
  #armed: Promise<number | null> | undefined;
  #onDeath: (() => void) | undefined;
  #isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Writes all bytes. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#socket.write(bytes).then((written) => {
      if (written < bytes.length) return this.write(bytes.subarray(written));
    });
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

  /** Removes and returns an idle connection; undefined if there is none. */
  take(origin: string, now: number): Connection | undefined {
    if (now >= this.#nextLookAt) this.#closeOld(now);
    const connection = this.#idle.get(origin)?.pop();
    connection?.wake();
    return connection;
  }

  /** Adds a connection whose last response is complete. */
  put(origin: string, connection: Connection, now: number): void {
    const kept = this.#idle.get(origin);
    if (kept !== undefined && kept.length >= maxIdle) return connection.close();
    const list = kept ?? [];
    if (kept === undefined) this.#idle.set(origin, list);
    list.push(connection);
    connection.park(now, () => {
      const index = list.indexOf(connection);
      if (index >= 0) list.splice(index, 1);
      if (list.length === 0 && this.#idle.get(origin) === list) this.#idle.delete(origin);
    });
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
