/**
 * Which connections of a server over `node:http` have no request.
 * @module
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Connections without a request. Kept by ourselves: Deno's `closeIdleConnections` leaves them open. */
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

  /** Closes those there are, and each further one once its response is over. */
  close(): void {
    this.#isClosing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** With TLS a connection has a second socket above its first, from the end of the handshake on: that one counts then. */
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
