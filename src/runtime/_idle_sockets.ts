/**
 * Tracks connections without a request, for servers over `node:http`.
 * @module
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Connections without a request. Tracked here because Deno's `closeIdleConnections` leaves them open. */
export class IdleSockets {
  readonly #sockets: Set<Socket> = new Set();
  #isClosing = false;

  constructor(server: Server) {
    const track = (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    };
    server.on("connection", track);
    if ("setSecureContext" in server) this.#leaveHandshakes(server, track);
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#sockets.delete(socket);
      response.on("close", () => this.#closeIfIdle(socket));
    });
  }

  /** Closes idle connections, and each further one when its response ends. */
  close(): void {
    this.#isClosing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** With TLS, a connection has a second socket after the handshake, which replaces the first one. */
  #leaveHandshakes(server: Server, track: (socket: Socket) => void): void {
    const handshakes = new Map<string, Socket>();
    const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
    server.on("connection", (socket: Socket) => {
      const peer = peerOf(socket);
      handshakes.set(peer, socket);
      socket.on("close", () => handshakes.delete(peer));
    });
    server.on("secureConnection", (socket: Socket) => {
      const first = handshakes.get(peerOf(socket));
      if (first !== undefined) this.#sockets.delete(first);
      track(socket);
    });
  }

  #closeIfIdle(socket: Socket): void {
    if (this.#isClosing) socket.end();
    else if (!socket.destroyed) this.#sockets.add(socket);
  }
}
