/**
 * One connection to a server: what has been read of it and not been taken, and whether it still lives while idle.
 * @module
 */

/** Reads what is asked for at once; more after a read that filled it. */
const idleBytes = 4096;
const maxBytes = 64 * 1024;

/** A connection of the runtime, with or without TLS. */
export interface Socket {
  /** Resolves with the number of bytes read, null at the other side's end. */
  read(into: Uint8Array): Promise<number | null>;
  /** Resolves with the number of bytes written, which may be less than there are. */
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
  /** Whether it keeps the process alive. */
  ref?(): void;
  unref?(): void;
}

/** A connection whose input is buffered. */
export class Connection {
  /** Input that has not been taken is in here, from {@linkcode start} to {@linkcode end}. */
  bytes: Uint8Array = new Uint8Array(idleBytes);
  start: number = 0;
  end: number = 0;
  /** When it was last put aside, monotonic ms. */
  idleSince: number = 0;
  readonly #socket: Socket;
  #armed: Promise<number | null> | undefined;
  #onDeath: (() => void) | undefined;
  #isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Writes all of it. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await this.#socket.write(at === 0 ? bytes : bytes.subarray(at));
    }
  }

  /**
   * Reads more into the buffer, behind what is there.
   *
   * @returns Whether there was more: false at the other side's end.
   */
  async fill(): Promise<boolean> {
    return this.received(await this.next());
  }

  /** Starts a read into the buffer. Its result must be passed to {@linkcode Connection.received}. */
  next(): Promise<number | null> {
    const armed = this.#armed;
    this.#armed = undefined;
    return armed ?? this.#socket.read(this.#room());
  }

  /** Counts bytes that were read into the buffer; returns false when the other side has closed the connection. */
  received(read: number | null): boolean {
    this.end += read ?? 0;
    return read !== null;
  }

  /** A copy of what has been read, which is taken out of the buffer. */
  take(most: number): Uint8Array {
    const to = Math.min(this.end, this.start + most);
    const taken = this.bytes.slice(this.start, to);
    this.start = to;
    return taken;
  }

  /** Puts the connection aside. One that ends meanwhile, or on which something comes unasked, is closed. */
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

  /** Takes it into use again. */
  wake(): void {
    this.#onDeath = undefined;
    this.#socket.ref?.();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#armed?.catch(() => {}); // its error has no reader left
    try {
      this.#socket.close();
    } catch {
      // the runtime has closed it already
    }
  }

  #idleEnd(): void {
    const onDeath = this.#onDeath;
    if (onDeath === undefined) return; // it is in use: who uses it reads what came
    this.#onDeath = undefined;
    this.close();
    onDeath();
  }

  /** Free room of the buffer: at the front when it is empty, else made behind what is there. */
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
