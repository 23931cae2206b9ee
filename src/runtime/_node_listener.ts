/**
 * The HTTP/1.1 server on Node's sockets.
 * @module
 */
import type { AddressInfo } from "node:net";
import type { RequestHandler, RunningServer, ServeOptions } from "../contracts/shell.ts";
import { Http1Server } from "./http1/server.ts";
import { listenError } from "./_listen_error.ts";
import { builtin } from "./_node_builtin.ts";
import { NodeSocket } from "./_node_socket.ts";
import { listenOptions } from "./_workers.ts";

/**
 * Starts a server, and resolves once the port is bound.
 *
 * @throws {MeshError} `port_in_use`, `port_not_permitted` or `cannot_listen`.
 */
export async function serveOnNode(
  handler: RequestHandler,
  { host, port, onListen }: ServeOptions,
): Promise<RunningServer> {
  const server = new Http1Server(handler, (timer) => void (timer as { unref?(): void }).unref?.());
  const listener = builtin("node:net").createServer({ noDelay: true }, (socket) => {
    server.accept(NodeSocket.accepted(socket), () => socket.remoteAddress);
  });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", (error) => reject(listenError(error, `${host}:${port}`)));
    listener.listen(listenOptions(port, host), resolve);
  });
  listener.on("error", () => {}); // a connection that could not be accepted
  const address = listener.address() as AddressInfo;
  onListen?.({ host, port: address.port });
  return {
    port: address.port,
    listener: "http1",
    stop(graceMs) {
      listener.close();
      return server.stop(graceMs);
    },
  };
}
