/**
 * The upstream client on Node: HTTP/1.1 over Node's sockets.
 * @module
 */
import type { OnReadOpts, Socket as NetSocket } from "node:net";
import type { SecureContext } from "node:tls";
import type { Authorities, Runtime } from "../contracts/runtime.ts";
import { type MeshError, NetworkError } from "../errors.ts";
import { createOverload, isResourceLack } from "../util/resource_lack.ts";
import { authorities } from "./_authorities.ts";
import { createDecompressor } from "./_decompressor.ts";
import { Descriptors } from "./_descriptors.ts";
import { http1Client, type Network } from "./http1/client.ts";
import type { Socket } from "./http1/connection.ts";
import type { Target } from "./http1/request.ts";
import { builtin, nodeProcess } from "./_node_builtin.ts";
import { outboundProxy, tunnelTo } from "./_outbound_proxy.ts";
import { createTlsFault } from "./_tls_faults.ts";
import { turnEnd } from "./_turn_end.ts";

/** The upstream client over our own connections. */
export const send: Runtime["send"] = http1Client(nodeNetwork());

const env = (name: string): string | undefined => nodeProcess()?.env[name];

/** Node's sockets, through the outbound proxies of the environment. */
function nodeNetwork(): Network {
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

/** A read buffer shared by all connections, which copy their bytes before the next read. */
let shared: Uint8Array | undefined;
const sharedBytes = 64 * 1024;

/** Adapts a socket of Node to {@linkcode Socket}. */
class NodeSocket implements Socket {
  #socket: NetSocket | undefined;
  /** Bytes received while there was no reader. */
  readonly #chunks: Uint8Array[] = [];
  #waiting: {
    readonly into: Uint8Array;
    readonly resolve: (read: number | null) => void;
    readonly reject: (error: unknown) => void;
  } | undefined;
  #end: { readonly error?: Error } | undefined;
  #isPaused = false;

  /** Option for sockets that read into a given buffer. */
  get onRead(): OnReadOpts {
    shared ??= new Uint8Array(sharedBytes);
    return { buffer: shared, callback: (length, buffer) => this.#receive(buffer.subarray(0, length)) };
  }

  /** `data` listener for other sockets. */
  readonly take = (chunk: Uint8Array): void => {
    if (!this.#receive(chunk)) this.#socket?.pause();
  };

  /** Resolves when the socket is connected. */
  connected(socket: NetSocket, { event, isTunnel = false, signal }: {
    readonly event: "connect" | "secureConnect";
    /** Whether there is a TCP connection already, to an outbound proxy. */
    readonly isTunnel?: boolean;
    /** Aborts the connection attempt. */
    readonly signal: AbortSignal;
  }): Promise<this> {
    this.#attach(socket);
    let isSecuring = isTunnel;
    if (event === "secureConnect") socket.once("connect", () => isSecuring = true);
    return new Promise((resolve, reject) => {
      const giveUp = () => socket.destroy();
      signal.addEventListener("abort", giveUp);
      socket.on("error", (error: Error & { readonly code?: string }) => {
        reject(isSecuring ? createTlsFault(error) : unconnected(error));
        this.#finish({ error });
      });
      socket.once(event, () => {
        signal.removeEventListener("abort", giveUp);
        resolve(this);
      });
    });
  }

  #attach(socket: NetSocket): void {
    this.#socket = socket;
    socket.on("end", () => this.#finish({}));
    socket.on("close", () => this.#finish({ error: new Error("The connection is closed") }));
  }

  read(into: Uint8Array): Promise<number | null> {
    const chunk = this.#chunks[0];
    if (chunk !== undefined) {
      const taken = Math.min(into.length, chunk.length);
      into.set(chunk.subarray(0, taken));
      if (taken < chunk.length) this.#chunks[0] = chunk.subarray(taken);
      else this.#chunks.shift();
      return Promise.resolve(taken);
    }
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return this.#end.error === undefined ? resolve(null) : reject(this.#end.error);
      this.#waiting = { into, resolve, reject };
      if (!this.#isPaused) return;
      this.#isPaused = false;
      this.#socket!.resume();
    });
  }

  async write(bytes: Uint8Array): Promise<number> {
    await turnEnd();
    return await new Promise((resolve, reject) => {
      this.#socket!.write(bytes, (error) => error ? reject(error) : resolve(bytes.length));
    });
  }

  close(): void {
    this.#socket!.destroy();
  }

  ref(): void {
    this.#socket!.ref();
  }

  unref(): void {
    this.#socket!.unref();
  }

  /** Receives bytes, which the caller may then overwrite. Returns false to pause. */
  #receive(bytes: Uint8Array): boolean {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const taken = waiting === undefined ? 0 : Math.min(waiting.into.length, bytes.length);
    waiting?.into.set(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    if (taken < bytes.length) this.#chunks.push(bytes.slice(taken));
    waiting?.resolve(taken);
    this.#isPaused = this.#chunks.length > 0;
    return !this.#isPaused;
  }

  #finish(end: { readonly error?: Error }): void {
    this.#end ??= end;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const { error } = this.#end;
    error === undefined ? waiting?.resolve(null) : waiting?.reject(error);
  }
}

const descriptors = new Descriptors(() => {
  const { closeSync, openSync } = builtin("node:fs");
  closeSync(openSync(builtin("node:os").devNull, "r"));
});

/** Without a connection, no part of the request was read. */
function unconnected(error: Error & { readonly code?: string }): MeshError {
  const { code = "" } = error;
  if (isResourceLack(error)) {
    descriptors.lacked();
    return createOverload();
  }
  if (/^(ENOTFOUND|EAI_\w+)$/.test(code)) {
    if (descriptors.areLacking) return createOverload();
    return new NetworkError("Cannot find the provider's host: its name does not resolve", { neverSent: true });
  }
  return never(code === "ECONNREFUSED" ? "refused" : "unreachable");
}

function never(reason: string): NetworkError {
  return new NetworkError(`Cannot connect to the provider: ${reason}`, { neverSent: true });
}
