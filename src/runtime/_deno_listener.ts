/**
 * The HTTP/1.1 server on Deno's sockets.
 * @module
 */
import type { RequestHandler, RunningServer, ServeOptions } from "../contracts/shell.ts";
import { Http1Server } from "./http1/server.ts";
import { listenError } from "./_listen_error.ts";
import { callAfter } from "./_timers.ts";

/** Delay after a connection could not be accepted, for lack of file descriptors or memory, ms. */
const retryMs = 100;

/** Codes of errors about one connection, which its client has closed before it was accepted. */
const harmless = new Set(["ENOTCONN", "ECONNABORTED", "ECONNRESET", "EPROTO", "EINVAL"]);

/**
 * Starts a server.
 *
 * @throws {MeshError} `port_in_use`, `port_not_permitted` or `cannot_listen`.
 */
export function serveOnDeno(handler: RequestHandler, { host, port, onListen }: ServeOptions): RunningServer {
  const server = new Http1Server(handler, (timer) => Deno.unrefTimer(timer));
  const listener = openListener(host, port);
  const bound = listener.addr.port;
  let isOpen = true;
  const acceptAll = async (): Promise<void> => {
    while (isOpen) {
      try {
        const socket = await listener.accept();
        server.accept(socket, () => socket.remoteAddr.hostname);
        socket.setNoDelay(true);
      } catch (error) {
        if (!harmless.has((error as { code?: string }).code ?? "")) throw error;
      }
    }
  };
  const accept = (): void => {
    acceptAll().catch(() => {
      if (isOpen) callAfter(retryMs, accept);
    });
  };
  accept();
  onListen?.({ host, port: bound });
  return {
    port: bound,
    listener: "http1",
    stop(graceMs) {
      if (isOpen) listener.close();
      isOpen = false;
      return server.stop(graceMs);
    },
  };
}

function openListener(host: string, port: number): Deno.TcpListener {
  try {
    return Deno.listen({ hostname: host, port });
  } catch (error) {
    throw listenError(error, `${host}:${port}`);
  }
}
