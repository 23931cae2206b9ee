/**
 * Connections with TLS through an outbound proxy (`CONNECT`), for `node:https`.
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { Agent, AgentOptions } from "node:https";
import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { NetworkError } from "../errors.ts";
import { builtin } from "./_node_builtin.ts";
import type { OutboundProxy } from "./_outbound_proxy.ts";
import { callAfter } from "./_timers.ts";

/** Longest wait for the proxy and for TLS behind it, ms: a call cannot say more before it has its connection. */
const tunnelMs = 10_000;

/** The target of a connection, as an agent gives it. */
interface Destination {
  readonly host: string;
  readonly port: number | string;
  readonly servername?: string;
  readonly secureContext?: SecureContext;
}

type Done = (error: Error | null, socket?: Socket) => void;

/** An agent whose connections go through a proxy. */
export function tunnelAgent(proxy: OutboundProxy, options: AgentOptions): Agent {
  const agent = new (builtin("node:https").Agent)(options);
  const createConnection = (to: Destination, done: Done): void => {
    let isOver = false;
    let current: { destroy(): unknown } | undefined;
    const settle: Done = (error, socket) => {
      if (isOver) return;
      isOver = true;
      cancel();
      if (error !== null) current?.destroy();
      done(error, socket);
    };
    const cancel = callAfter(
      tunnelMs,
      () => settle(fault(`no connection through the outbound proxy within ${tunnelMs} ms`)),
    );
    current = connect(proxy, to, (error, socket) => {
      if (error !== null || isOver) return settle(error);
      current = secure(socket!, to, settle);
    });
  };
  return Object.assign(agent, { createConnection });
}

/** Asks the proxy for a way to the destination. */
function connect({ protocol, hostname, port, headers }: OutboundProxy, to: Destination, done: Done) {
  const { request } = builtin(protocol === "https:" ? "node:https" : "node:http");
  const path = `${to.host.includes(":") ? `[${to.host}]` : to.host}:${to.port}`;
  const call = request({
    host: hostname,
    port,
    method: "CONNECT",
    path,
    headers: { ...headers, host: path },
    agent: false,
  });
  call.on("connect", ({ statusCode = 0 }: IncomingMessage, socket: Socket) => {
    if (statusCode >= 200 && statusCode < 300) return done(null, socket);
    socket.destroy();
    const reason = statusCode === 407 ? "asks for a name and a password" : "refused the connection";
    done(fault(`the outbound proxy ${reason} (status ${statusCode})`));
  });
  call.on("error", () => done(fault("the outbound proxy cannot be reached")));
  call.end();
  return call;
}

function secure(socket: Socket, { host, servername, secureContext }: Destination, done: Done) {
  const secured = builtin("node:tls").connect({ socket, host, servername: servername ?? "", secureContext });
  secured.once("error", () => done(fault("no secure connection (TLS) came about through the outbound proxy")));
  secured.once("secureConnect", () => done(null, secured));
  return secured;
}

function fault(reason: string): NetworkError {
  return new NetworkError(`Cannot connect to the provider: ${reason}`, { neverSent: true });
}
