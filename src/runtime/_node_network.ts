/**
 * Connections on Node, for the HTTP/1.1 client.
 * @module
 */
import type { SecureContext } from "node:tls";
import type { Authorities } from "../contracts/runtime.ts";
import { authorities } from "./_authorities.ts";
import { createDecompressor } from "./_decompressor.ts";
import { builtin, nodeProcess } from "./_node_builtin.ts";
import { NodeSocket } from "./_node_socket.ts";
import { outboundProxy } from "./_outbound_proxy.ts";
import { tunnelTo } from "./_tunnel.ts";
import type { Network } from "./http1/client.ts";
import type { Socket } from "./http1/connection.ts";
import type { Target } from "./http1/request.ts";

const env = (name: string): string | undefined => nodeProcess()?.env[name];

/** Node's sockets, through the outbound proxies of the environment. */
export function nodeNetwork(): Network {
  return {
    via: (url) => outboundProxy(url, env),
    connect: (target, signal) => target.isSecure ? connectSecurely(target, signal) : connectPlainly(target, signal),
    decompressor: (format) => createDecompressor(format)!, // all formats that responses may have
  };
}

function connectPlainly({ hostname, port }: Target, signal: AbortSignal): Promise<Socket> {
  const own = new NodeSocket();
  const socket = builtin("node:net").connect({ host: hostname, port, noDelay: true, onread: own.onRead });
  return own.connected(socket, { event: "connect", signal });
}

/** TLS sessions by origin, resumed to save computation. */
const sessions = new Map<string, Uint8Array>();

async function connectSecurely(target: Target, signal: AbortSignal): Promise<Socket> {
  const { origin, hostname, port, authorities, proxy } = target;
  const own = new NodeSocket();
  const way = proxy === undefined
    ? { port, onread: own.onRead }
    : { socket: await tunnelTo(proxy, { hostname, port, signal }) };
  const socket = builtin("node:tls").connect({
    host: hostname,
    servername: builtin("node:net").isIP(hostname) === 0 ? hostname : "",
    ALPNProtocols: ["http/1.1"],
    session: sessions.get(origin) as Buffer | undefined,
    ...trust(authorities),
    ...way,
  });
  socket.on("session", (session: Uint8Array) => sessions.set(origin, session));
  if (proxy === undefined) socket.setNoDelay(true);
  else socket.on("data", own.take); // `onread` is supported only for sockets that `connect` creates
  return await own.connected(socket, { event: "secureConnect", isTunnel: proxy !== undefined, signal });
}

const contexts = new Map<string | undefined, SecureContext | undefined>();

/**
 * Returns the certificate authorities for TLS. Node reads one of the files itself, but none if others are specified.
 *
 * @param others Authorities in addition to those of the environment.
 */
function trust(others?: Authorities): { readonly secureContext?: SecureContext } {
  const key = others?.key;
  if (!contexts.has(key)) contexts.set(key, createContext(others));
  const secureContext = contexts.get(key);
  return secureContext === undefined ? {} : { secureContext };
}

function createContext(others?: Authorities): SecureContext | undefined {
  if (others === undefined && authorities(["SSL_CERT_FILE", "DENO_CERT"], env).length === 0) return undefined;
  const own = authorities(["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "DENO_CERT"], env);
  const { createSecureContext, rootCertificates } = builtin("node:tls");
  return createSecureContext({ ca: [...rootCertificates, ...own, ...others?.certificates ?? []] });
}
