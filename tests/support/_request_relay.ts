/**
 * A relay in front of a server that records its requests.
 * @module
 */
import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** A running relay. */
export interface RequestRelay extends AsyncDisposable {
  /** URL without path. */
  readonly url: string;
  /** Method and path of each request, in order. */
  readonly requests: readonly string[];
}

/**
 * Starts a relay.
 *
 * @param url Of the server, without path.
 */
export async function startRelay(url: string): Promise<RequestRelay> {
  const { hostname, port } = new URL(url);
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.on("data", (bytes) => {
      const [, request] = /^([A-Z]+ \S+) HTTP\/1\.1\r\n/.exec(String(bytes)) ?? [];
      if (request !== undefined) requests.push(request);
    });
    for (const [socket, other] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => sockets.delete(socket));
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
