/**
 * Sockets of Node, for the HTTP/1.1 client.
 * @module
 */
import type { OnReadOpts, Socket as NetSocket } from "node:net";
import { type MeshError, NetworkError } from "../errors.ts";
import { createOverload, isResourceLack } from "../util/resource_lack.ts";
import { Descriptors } from "./_descriptors.ts";
import { builtin } from "./_node_builtin.ts";
import { createTlsFault } from "./_tls_faults.ts";
import { turnEnd } from "./_turn_end.ts";
import type { Socket } from "./http1/connection.ts";

interface Connecting {
  readonly event: "connect" | "secureConnect";
  /** Whether there is a TCP connection already, to an outbound proxy. */
  readonly isTunnel?: boolean;
  /** Aborts the connection attempt. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly into: Uint8Array;
  readonly resolve: (read: number | null) => void;
  readonly reject: (error: unknown) => void;
}

/** A read buffer shared by all connections, which copy their bytes before the next read. */
let shared: Uint8Array | undefined;
const sharedBytes = 64 * 1024;

/** Adapts a socket of Node to {@linkcode Socket}. */
export class NodeSocket implements Socket {
  #socket: NetSocket | undefined;
  /** Bytes received while there was no reader. */
  readonly #chunks: Uint8Array[] = [];
  #waiting: Waiting | undefined;
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
  connected(socket: NetSocket, { event, isTunnel = false, signal }: Connecting): Promise<this> {
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
