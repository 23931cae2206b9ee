/**
 * Connections through an outbound proxy (`CONNECT`), on Node.
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { NetworkError } from "../errors.ts";
import { createOverload, isResourceLack } from "../util/resource_lack.ts";
import { builtin } from "./_node_builtin.ts";
import type { OutboundProxy, Target } from "./http1/request.ts";

/** The target of a connection. */
interface Destination extends Pick<Target, "hostname" | "port"> {
  /** Aborts the connection attempt. */
  readonly signal: AbortSignal;
}

/**
 * Opens a tunnel to a server through a proxy.
 *
 * @throws {NetworkError} If the proxy cannot be reached or rejects the request.
 */
export function tunnelTo(proxy: OutboundProxy, { hostname: to, port: toPort, signal }: Destination): Promise<Socket> {
  const { protocol, hostname: host, port, headers } = proxy;
  const { request } = builtin(protocol === "https:" ? "node:https" : "node:http");
  const path = `${to.includes(":") ? `[${to}]` : to}:${toPort}`;
  return new Promise((resolve, reject) => {
    const call = request({ host, port, method: "CONNECT", path, headers: { ...headers, host: path }, agent: false });
    const giveUp = () => call.destroy();
    signal.addEventListener("abort", giveUp);
    call.on("connect", ({ statusCode = 0 }: IncomingMessage, socket: Socket) => {
      signal.removeEventListener("abort", giveUp);
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      const reason = statusCode === 407 ? "asks for a name and a password" : "refused the connection";
      reject(fault(`the outbound proxy ${reason} (status ${statusCode})`));
    });
    call.on("error", (error) => {
      reject(isResourceLack(error) ? createOverload() : fault("the outbound proxy cannot be reached"));
    });
    call.end();
  });
}

function fault(reason: string): NetworkError {
  return new NetworkError(`Cannot connect to the provider: ${reason}`, { neverSent: true });
}
