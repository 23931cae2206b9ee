/**
 * TCP connections for npm packages that take a socket of Node.
 * @module
 */
import type { NetSocket } from "../contracts/runtime.ts";
import { builtin } from "./_node_builtin.ts";

/** Opens a connection; Deno implements the same module. */
export function openSocket(
  { host, port, timeoutMs }: { readonly host: string; readonly port: number; readonly timeoutMs: number },
): Promise<NetSocket> {
  const socket = builtin("node:net").connect({ host, port, noDelay: true });
  return new Promise((resolve, reject) => {
    const expire = () => socket.destroy(new Error(`not connected within ${timeoutMs} ms`));
    socket.setTimeout(timeoutMs, expire);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("timeout", expire);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
