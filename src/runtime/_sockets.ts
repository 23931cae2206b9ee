/**
 * Tracks the WebSocket connections of a server, to end them when it stops.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { ClientSocket, SocketEvents } from "../contracts/shell.ts";
import { callAfter } from "./_timers.ts";

/** Time for a client to answer a close frame, ms. */
const lingerMs = 2_000;

/** A WebSocket of a runtime. */
interface RawSocket {
  /** Sends a text message. Resolves when the next one may be sent. */
  send(text: string): Promise<void>;
  /** Begins the closing handshake. */
  close(code: number, reason: string): void;
  /** Closes the connection without a handshake, where the runtime can. */
  terminate(): void;
}

/** One connection. */
export class OpenSocket implements ClientSocket {
  readonly #raw: RawSocket;
  readonly #onOver: () => void;
  readonly #events: SocketEvents;
  #isClosing = false;
  #isOver = false;
  #cancelLinger: Cancel = () => {};

  /**
   * @param raw The runtime's socket.
   * @param open Creates the listener of its events.
   * @param onOver Called when the connection has ended.
   */
  constructor(raw: RawSocket, open: (socket: ClientSocket) => SocketEvents, onOver: () => void) {
    this.#raw = raw;
    this.#onOver = onOver;
    this.#events = open(this);
  }

  async send(text: string): Promise<void> {
    if (!this.#isClosing && !this.#isOver) await this.#raw.send(text);
  }

  close(code: number, reason: string): void {
    if (this.#isClosing || this.#isOver) return;
    this.#raw.close(code, reason);
    this.linger();
  }

  /** Gives the client a moment to close the connection. */
  linger(): void {
    if (this.#isClosing || this.#isOver) return;
    this.#isClosing = true;
    this.#cancelLinger = callAfter(lingerMs, () => {
      this.#raw.terminate();
      this.over();
    });
  }

  /** Takes a message. */
  receive(text: string | undefined): void {
    if (!this.#isClosing && !this.#isOver) this.#events.onMessage(text);
  }

  /** Reports that the server is stopping. */
  stop(): void {
    this.#events.onStop();
  }

  /** Reports that the connection has ended. */
  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelLinger();
    this.#onOver();
    this.#events.onClose();
  }
}

/** The connections of one server. */
export class OpenSockets {
  readonly #open = new Set<OpenSocket>();
  #stopping: Promise<void> | undefined;
  #onEmpty = () => {};

  /** Adds a connection. */
  add(raw: RawSocket, open: (socket: ClientSocket) => SocketEvents): OpenSocket {
    const socket: OpenSocket = new OpenSocket(raw, open, () => {
      this.#open.delete(socket);
      if (this.#open.size === 0) this.#onEmpty();
    });
    this.#open.add(socket);
    if (this.#stopping !== undefined) socket.stop();
    return socket;
  }

  /** Has all connections closed once their work is done. Resolves when there are none; undefined if there are none now. */
  stop(): Promise<void> | undefined {
    if (this.#open.size === 0) return undefined;
    return this.#stopping ??= new Promise((resolve) => {
      this.#onEmpty = resolve;
      for (const socket of this.#open) socket.stop();
    });
  }

  /** Closes all connections, whatever their work. */
  endAll(): void {
    for (const socket of this.#open) socket.close(1001, "The proxy is shutting down");
  }
}
