/**
 * Tracks connections without a request, for servers over `node:http`, and limits the number of all connections.
 * @module
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { callAfter } from "./_timers.ts";

/** Time for a refused client to receive its response, ms. */
const lingerMs = 2_000;

/** Connections without a request. Tracked here because Deno's `closeIdleConnections` leaves them open. */
export class IdleSockets {
  /** Those that have been idle for longest first; includes those that have not sent a whole head yet. */
  readonly #sockets: Set<Socket> = new Set();
  #isClosing = false;
  /** Number of all connections. */
  #open = 0;
  readonly #refused: WeakSet<Socket> = new WeakSet();

  /** @param maxConnections Beyond it, idle connections are closed. */
  constructor(server: Server, maxConnections: number) {
    this.#limit(server, maxConnections);
    const track = (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    };
    server.on("connection", track);
    if ("setSecureContext" in server) this.#leaveHandshakes(server, track);
  }

  /** Closes idle connections, and each further one when its response ends. */
  close(): void {
    this.#isClosing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Leaves a connection while it has a request, or because it is no longer one of HTTP. */
  leave(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  #limit(server: Server, maxConnections: number): void {
    server.on("connection", (socket: Socket) => {
      this.#open++;
      socket.on("close", () => this.#open--);
      if (this.#open <= maxConnections) return;
      const [oldest] = this.#sockets; // the new one is not among them yet
      if (oldest !== undefined) {
        this.#sockets.delete(oldest);
        oldest.destroy();
      } else if ("setSecureContext" in server) socket.destroy();
      else this.#refuse(socket, maxConnections);
    });
  }

  /** Whether a connection was refused: its requests have their response. */
  isRefused(socket: Socket): boolean {
    return this.#refused.has(socket);
  }

  /** Does not close the connection before the client: that would reset it, and the client could lose the response. */
  #refuse(socket: Socket, maxConnections: number): void {
    this.#refused.add(socket);
    const message = `The proxy is at its limit of ${maxConnections} connections`;
    const body = JSON.stringify({ error: { message, type: "server_error", param: null, code: "overloaded" } });
    const head = ["HTTP/1.1 503 Service Unavailable", "Content-Type: application/json", "Retry-After: 1"];
    socket.end(`${head.join("\r\n")}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const cancel = callAfter(lingerMs, () => socket.destroy());
    socket.on("close", cancel);
  }

  /** With TLS, a connection has a second socket after the handshake, which replaces the first one. */
  #leaveHandshakes(server: Server, track: (socket: Socket) => void): void {
    const handshakes = new Map<string, Socket>();
    const formatPeer = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
    server.on("connection", (socket: Socket) => {
      const peer = formatPeer(socket);
      handshakes.set(peer, socket);
      socket.on("close", () => handshakes.delete(peer));
    });
    server.on("secureConnection", (socket: Socket) => {
      const first = handshakes.get(formatPeer(socket));
      if (first !== undefined) this.#sockets.delete(first);
      track(socket);
    });
  }

  /** Takes a connection back when its response ends. */
  release(socket: Socket): void {
    if (this.#isClosing) socket.end();
    else if (!socket.destroyed) this.#sockets.add(socket);
  }
}
