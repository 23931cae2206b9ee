/**
 * TCP connections for npm packages that take a socket of Node.
 * @module
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { NetSocket, SocketAddress, SocketTls } from "../contracts/runtime.ts";
import { builtin } from "./_node_builtin.ts";

/** Opens a connection; Deno implements the same modules. */
export async function openSocket({ host, port, timeoutMs, tls }: SocketAddress): Promise<NetSocket> {
  const socket = builtin("node:net").connect({ host, port, noDelay: true });
  const expire = () => socket.destroy(new Error(`not connected within ${timeoutMs} ms`));
  socket.setTimeout(timeoutMs, expire);
  try {
    await awaitEvent(socket, "connect");
    return tls === undefined ? socket : await secure(socket, host, tls);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    socket.setTimeout(0);
    socket.off("timeout", expire);
  }
}

/** Asks the server for TLS in the format of its protocol, and starts it. */
async function secure(socket: Socket, host: string, { request, consent, ...options }: SocketTls): Promise<TLSSocket> {
  socket.write(request);
  const reply = await awaitEvent(socket, "data") as Uint8Array;
  if (reply[0] !== consent || reply.length > 1) throw new Error("the server does not offer TLS");
  const { servername = builtin("node:net").isIP(host) === 0 ? host : undefined } = options;
  const secured = builtin("node:tls").connect({
    ...options,
    socket,
    host,
    ...(servername === undefined ? {} : { servername }),
  });
  await awaitEvent(secured, "secureConnect");
  return secured;
}

/** Waits for an event of a socket, and rejects when it ends first. */
function awaitEvent(socket: Socket, event: "connect" | "data" | "secureConnect"): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const close = () => reject(new Error("the server has closed the connection"));
    const settle = (value: unknown) => {
      socket.off("error", reject);
      socket.off("close", close);
      resolve(value);
    };
    socket.once(event, settle);
    socket.once("error", reject);
    socket.once("close", close);
  });
}
