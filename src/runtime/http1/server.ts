/**
 * An HTTP/1.1 server (RFC 9112) over connections that a runtime accepts, for runtimes whose built-in servers cost a
 * gateway as much as all its other work for a request. It limits the time and size of heads, rejects ambiguous
 * requests, and detects clients that disconnect before their response is complete.
 * @module
 */
import type { Cancel } from "../../contracts/runtime.ts";
import type { Peer, RequestHandler } from "../../contracts/shell.ts";
import { Bag } from "../../util/bag.ts";
import { OpenResponses } from "../_open_responses.ts";
import { callAfter, type Timer } from "../_timers.ts";
import type { Socket } from "./connection.ts";
import { ServerConnection } from "./server_connection.ts";

/** Interval of checks for connections that have exceeded a time limit, ms. */
const tickMs = 1_000;

/** Time for the last responses after the grace period, ms. */
const lastWaitMs = 1_000;

/** Serves accepted connections. */
export class Http1Server {
  readonly #open: OpenResponses;
  readonly #handler: RequestHandler;
  readonly #detach: (timer: Timer) => void;
  readonly #connections = new Bag<ServerConnection>();
  #tick = 0;
  #cancelTick: Cancel | undefined;
  #isStopping = false;
  #onEmpty: () => void = () => {};

  /** @param detach Receives timers that must not keep the process alive. */
  constructor(handler: RequestHandler, detach: (timer: Timer) => void) {
    this.#handler = handler;
    this.#open = new OpenResponses(handler);
    this.#detach = detach;
  }

  /** Serves a connection until it is closed. */
  accept(socket: Socket, peer: Peer): void {
    const connection = new ServerConnection(socket, {
      open: this.#open,
      plain: this.#handler.plain,
      peer,
      tick: () => this.#tick,
      isStopping: () => this.#isStopping,
    });
    if (this.#isStopping) return connection.close();
    this.#connections.add(connection);
    this.#cancelTick ??= this.#tickLater();
    connection.serve().catch(() => connection.close()).finally(() => {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onEmpty();
    });
  }

  /** Stops like `RunningServer.stop`. The listening socket has been closed. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const empty = this.#untilEmpty();
    for (const connection of this.#connections.all) connection.closeIfIdle();
    const cancelEnd = callAfter(graceMs, () => this.#open.endAll());
    let cancelLast: Cancel = () => {};
    const atLast = new Promise<void>((resolve) => {
      cancelLast = callAfter(graceMs + lastWaitMs, () => {
        for (const connection of this.#connections.all) connection.close();
        resolve(); // also if a handler never ends its stream
      });
    });
    await Promise.race([empty, atLast]);
    cancelEnd();
    cancelLast();
    this.#cancelTick?.();
    this.#open.close();
  }

  #untilEmpty(): Promise<void> {
    if (this.#connections.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const before = this.#onEmpty;
      this.#onEmpty = () => {
        before();
        resolve();
      };
    });
  }

  #tickLater(): Cancel {
    return callAfter(tickMs, () => {
      this.#tick++;
      for (const connection of this.#connections.all) connection.checkTime();
      this.#cancelTick = this.#connections.size > 0 ? this.#tickLater() : undefined;
    }, this.#detach);
  }
}
