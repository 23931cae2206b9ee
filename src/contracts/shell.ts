/**
 * What the entry points `cli.ts` and `proxy.ts` need from the runtime beyond a `Runtime`: a listening socket, signals,
 * standard streams. The engine never uses it.
 * @module
 */
import type { Cancel, StopSignal } from "./runtime.ts";

/** Returns the remote address of a request's connection, without port; undefined if unknown. */
export type Peer = () => string | undefined;

/** The part of `Request` that a handler reads; a server may pass a lighter object. */
export interface PlainRequest {
  /** HTTP method, in upper case. */
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  /** Headers; looked up by lower-case name. */
  readonly headers: Pick<Headers, "get" | "has">;
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: StopSignal;
  /** The request body as a stream; null if there is none. */
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Reads the complete request body, in place of `body`. */
  bytes(): Promise<Uint8Array>;
  /** Reads it like `bytes`, but without waiting; undefined if it has not been received yet. */
  received?(): Uint8Array | undefined;
  /**
   * Upgrades the connection to a WebSocket (RFC 6455). Absent if the request does not ask for one, or the server has none.
   *
   * @returns The response to return to the server, which has sent or will send its own in place of it.
   * @throws A `MeshError` `upgrade_unavailable` if a package is missing.
   */
  readonly upgrade?: (options: UpgradeOptions) => Promise<PlainResponse>;
}

/** Options of an upgrade to a WebSocket. */
export interface UpgradeOptions {
  /** Maximum length of a message, bytes. A longer one closes the connection with code 1009. */
  readonly maxMessageBytes: number;
  /** Headers of the response; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called once with the connection. Returns the callbacks for its events. */
  readonly open: (socket: ClientSocket) => SocketEvents;
}

/** A WebSocket connection to a client. */
export interface ClientSocket {
  /** Sends a text message. Resolves when the client can take another one, or has disconnected. Never rejects. */
  send(text: string): Promise<void>;
  /**
   * Closes the connection. Idempotent.
   *
   * @param code RFC 6455, section 7.4.1.
   * @param reason At most 123 bytes.
   */
  close(code: number, reason: string): void;
}

/** Callbacks for the events of a WebSocket connection. */
export interface SocketEvents {
  /** A text message was received, or a binary one, whose text is undefined. */
  onMessage(text: string | undefined): void;
  /** The server is stopping: the connection has to be closed once its work is done. */
  onStop(): void;
  /** The connection has ended. Called once. */
  onClose(): void;
}

/** A response body that is streamed without the overhead of a `ReadableStream`. */
export interface PlainStream {
  /** Reads the next chunk; undefined at the end. Rejects if the stream breaks off. Nothing is read ahead. */
  read(): Promise<Uint8Array | string | undefined>;
  /** Cancels the stream. */
  cancel(): void;
  /** Called when the stream breaks off while no read is pending. */
  onStop?: (reason: unknown) => void;
}

/** The parts of a `Response`. */
export interface PlainResponse {
  /** HTTP status. */
  readonly status: number;
  /** Headers; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The response body: complete, or streamed; null if there is none. */
  readonly body: Uint8Array | string | PlainStream | null;
}

/** Handles one request. It must not throw; if it does, the client receives a 500 without a body. */
export interface RequestHandler {
  (request: Request): Promise<Response>;
  /**
   * The same without the objects of the Fetch standard, which are expensive on some runtimes. Its streams end when the
   * request's signal aborts.
   */
  readonly plain?: (request: PlainRequest, peer?: Peer) => Promise<PlainResponse>;
}

/** A TLS certificate and its private key, PEM. */
export interface TlsKeyPair {
  /** The server's certificate, followed by the intermediate certificates. */
  readonly cert: string;
  /** The private key, unencrypted. */
  readonly key: string;
}

/** Options of a server. */
export interface ServeOptions {
  /** Host name or IP address to listen on, such as `127.0.0.1`. */
  readonly host: string;
  /** Port to listen on; 0 picks a free one. */
  readonly port: number;
  /**
   * The server: `Deno.serve` or `node:http`. By default that of the runtime; on Node always `node:http`, as with workers
   * and TLS.
   */
  readonly listener?: "deno" | "node";
  /**
   * Maximum number of connections of `node:http` and `node:https`: beyond it, the one that has been idle for longest is
   * closed. Unlimited when omitted.
   */
  readonly maxConnections?: number;
  /** Serves HTTPS with this certificate, always with `node:https`. */
  readonly tls?: TlsKeyPair;
  /** Called with the address once the server accepts connections. */
  readonly onListen?: (address: { host: string; port: number }) => void;
}

/** A running server. */
export interface RunningServer {
  /** The port it listens on. */
  readonly port: number;
  /** The server that listens, which may differ from the requested one. */
  readonly listener?: "deno" | "node";
  /**
   * Replaces the TLS certificate for new connections; open connections keep theirs. Present if the server was started
   * with one.
   *
   * @throws A `MeshError` `invalid_certificate` or `invalid_key`; the previous certificate stays in use.
   */
  readonly renewTls?: (pair: TlsKeyPair) => void;
  /**
   * Graceful shutdown. Rejects new connections, closes idle keep-alive connections at once, and lets responses in
   * progress finish for `graceMs`. Then it aborts the remaining requests: their `request.signal` aborts, a pending
   * response becomes a 503, a stream breaks off. A further call with a shorter time shortens the grace period. Resolves
   * when all connections are closed.
   */
  stop(graceMs: number): Promise<void>;
}

/**
 * A signal that requests the process to end. SIGHUP does so when the process was started from a terminal, which has
 * closed.
 */
export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** A signal that requests a process to reload its configuration; not available on Windows. */
export type ReloadSignal = "SIGHUP";

/** A standard output stream. */
export interface Output {
  /** Whether it is a terminal. */
  readonly isTerminal: boolean;
  /** Writes text; false if the stream is closed. Never throws. */
  write(text: string): boolean;
  /** Writes text with a short delay, batched with further writes, in order with {@linkcode write}. Never throws. */
  writeSoon(text: string): void;
}

/**
 * One end of a message channel between two processes. Messages are JSON. Messages that the other end can no longer
 * receive are lost.
 */
export interface Link {
  /** Sends a message. */
  send(message: unknown): void;
  /** Registers a listener for messages. */
  onMessage(listener: (message: unknown) => void): void;
}

/** A worker process, which serves the same port as this one. */
export interface Worker extends Link {
  /** Its exit code, once it has ended and all of its messages are received; null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** A worker's view of its supervisor process. */
export interface Supervised {
  /** The channel to the supervisor. A worker ends when the supervisor does. */
  readonly link: Link;
  /** Index of this worker, from 0. */
  readonly slot: number;
  /** Number of workers. */
  readonly count: number;
}

/** Starts worker processes. */
export interface Workers {
  /** Number of CPU cores. */
  readonly cores: number;
  /** The supervisor; present in a worker. */
  readonly supervisor?: Supervised | undefined;
  /**
   * Starts a worker with the arguments of this process, to serve a shared port. The first worker determines which one.
   */
  start(slot: { readonly slot: number; readonly count: number; readonly port?: number | undefined }): Worker;
}

/** The system interface of the entry points. */
export interface Shell {
  /** Command-line arguments, without the program's name. */
  readonly args: readonly string[];
  /** Standard output, for results. */
  readonly stdout: Output;
  /** Standard error, for diagnostics. */
  readonly stderr: Output;
  /** Whether standard input is a terminal. */
  readonly isInteractive: boolean;
  /** Reads all of standard input as text. */
  readInput(): Promise<string>;
  /**
   * Reads a line that is typed at a terminal.
   *
   * @param prompt Printed to standard error before it.
   * @returns Undefined at the end of standard input (Ctrl-D), and after Ctrl-C.
   */
  readLine(prompt: string): Promise<string | undefined>;
  /** Sets an environment variable of the process. */
  setVariable(name: string, value: string): void;
  /**
   * Starts a server.
   *
   * @throws A `MeshError`: `port_in_use`, `port_not_permitted` or `cannot_listen`; `invalid_certificate` or
   * `invalid_key` before it listens.
   */
  serve(handler: RequestHandler, options: ServeOptions): Promise<RunningServer>;
  /**
   * Validates a certificate and key for {@linkcode Shell.serve}.
   *
   * @throws A `MeshError` `invalid_certificate` or `invalid_key`.
   */
  checkTls(pair: TlsKeyPair): Promise<void>;
  /** Calls `task` on each of the signals, instead of ending the process. */
  onSignal<Name extends EndSignal | ReloadSignal>(signals: readonly Name[], task: (signal: Name) => void): Cancel;
  /**
   * Calls `task` for each promise of the process that is rejected and that no code handles, instead of ending the
   * process.
   */
  onUnhandledRejection(task: (reason: unknown) => void): Cancel;
  /**
   * Prepares the process to serve. After about 8 s without requests, V8's memory reducer shrinks the young generation and
   * discards what optimized code depends on, and the next requests cost two to three times the CPU until both are back.
   * Turns it off where the runtime lets a running process do so: on Node.
   */
  prepareToServe(): void;
  /** Ends the process. */
  exit(code: number): never;
  /** Worker processes that share one port. */
  readonly workers: Workers;
}
