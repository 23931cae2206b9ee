/**
 * What the shells (`cli.ts`, `proxy.ts`) need of the machine beyond a `Runtime`: a listening socket, signals,
 * standard streams. The engine never sees it.
 * @module
 */
import type { Cancel, StopSignal } from "./runtime.ts";

/** The address of the other end of a request's connection, without port; undefined where it is not known. */
export type Peer = () => string | undefined;

/** What a handler looks at of a `Request`; a server may hand over something lighter. */
export interface PlainRequest {
  /** Of HTTP, in capitals. */
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** As they came; asked for by their names in lower case. */
  readonly headers: Pick<Headers, "get" | "has">;
  /** Aborts when the client has left, or the server ends. */
  readonly signal: StopSignal;
  /** The body as it arrives; null when there is none. */
  readonly body: AsyncIterable<Uint8Array> | null;
  /** The whole body at once, in place of `body`. */
  bytes(): Promise<Uint8Array>;
}

/** A body that arrives in chunks, without the cost of a `ReadableStream`. */
export interface PlainStream {
  /** The next chunk; undefined at the end. Rejects when it breaks off. Nothing is read ahead. */
  read(): Promise<Uint8Array | string | undefined>;
  /** Stops reading. */
  cancel(): void;
  /** Called when it breaks off while it is not read. */
  onStop?: (reason: unknown) => void;
}

/** What a `Response` is made of. */
export interface PlainResponse {
  /** Of HTTP. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whole, or as it comes; null for none. */
  readonly body: Uint8Array | string | PlainStream | null;
}

/** Answers one request. It must not throw; if it does, the client gets a bare 500. */
export interface RequestHandler {
  (request: Request): Promise<Response>;
  /**
   * The same without the objects of the Fetch standard, which some runtimes make at great cost. It ends its streams
   * itself when the request's signal aborts.
   */
  readonly plain?: (request: PlainRequest, peer?: Peer) => Promise<PlainResponse>;
}

/** A certificate and its key: PEM texts. */
export interface TlsKeyPair {
  /** The server's certificate, then those between it and an authority that clients trust. */
  readonly cert: string;
  /** Its private key, without a passphrase. */
  readonly key: string;
}

/** Where to listen. */
export interface ServeOptions {
  /** Host name or address, such as `127.0.0.1`. */
  readonly host: string;
  /** Port; 0 picks a free one. */
  readonly port: number;
  /** `deno`: through `Deno.serve`, on Deno; `node:http` when left out. */
  readonly listener?: "node" | "deno";
  /** Serves HTTPS with this, always through Node's server: others cannot take another certificate while they run. */
  readonly tls?: TlsKeyPair;
  /** Called with the address once connections are accepted. */
  readonly onListen?: (address: { host: string; port: number }) => void;
}

/** A server that accepts connections. */
export interface RunningServer {
  /** The port it listens on. */
  readonly port: number;
  /** `node`: it is `node:http`, asked for or not. */
  readonly listener?: "node";
  /**
   * Gives connections from now on another certificate; those there are stay. There when it was started with one. Throws
   * a `MeshError` `invalid_certificate` or `invalid_key`, and the old one stays.
   */
  readonly renewTls?: (pair: TlsKeyPair) => void;
  /**
   * Refuses new connections and closes idle ones at once, lets open answers finish for `graceMs`, then ends what is
   * left: its `request.signal` aborts, a pending answer becomes a 503, a stream breaks off. Calling it again with a
   * shorter time hurries it up. Resolves when nothing is open any more.
   */
  stop(graceMs: number): Promise<void>;
}

/** A signal that asks the process to end; SIGHUP does where a terminal is its standard input, which is gone then. */
export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** A signal that asks a process to read its configuration again; there is none on Windows. */
export type ReloadSignal = "SIGHUP";

/** A standard stream to write to. */
export interface Output {
  /** Whether a person reads it. */
  readonly isTerminal: boolean;
  /** Writes text; false when the other end is closed. Never throws. */
  write(text: string): boolean;
  /** Writes text within a moment, together with what else comes; in order with {@linkcode write}. Never throws. */
  writeSoon(text: string): void;
}

/** One end of a line between two processes. What is sent is JSON; what the other end cannot get any more is lost. */
export interface Link {
  /** Sends. */
  send(message: unknown): void;
  /** Calls a listener with each message. */
  onMessage(listener: (message: unknown) => void): void;
}

/** Another process like this one, which serves the same port. */
export interface Worker extends Link {
  /** Its exit code, once it has ended and all of its messages have come; null when a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** What a worker knows of the process that started it. */
export interface Supervised {
  /** The line to it. A worker ends when that process does. */
  readonly link: Link;
  /** Its number among all workers, from 0. */
  readonly slot: number;
  /** How many there are. */
  readonly count: number;
}

/** How a process gets others like it. */
export interface Workers {
  /** How many processors there are. */
  readonly cores: number;
  /** There in a worker. */
  readonly supervisor?: Supervised | undefined;
  /** Starts a process with the arguments of this one, to serve a port together; which one, the first of them says. */
  start(place: { readonly slot: number; readonly count: number; readonly port?: number | undefined }): Worker;
}

/** The machine, as a shell sees it. */
export interface Shell {
  /** Arguments of the command line, without the program's name. */
  readonly args: readonly string[];
  /** Standard output: results. */
  readonly stdout: Output;
  /** Standard error: everything else. */
  readonly stderr: Output;
  /** Whether standard input is a terminal. */
  readonly isInteractive: boolean;
  /** All of standard input, as text. */
  readInput(): Promise<string>;
  /** Sets a variable of the process's environment, as if it had been started with it. */
  setVariable(name: string, value: string): void;
  /**
   * Starts a server.
   *
   * Throws a `MeshError`: `port_in_use`, `port_not_permitted` or `cannot_listen`; `invalid_certificate` or
   * `invalid_key` before it listens.
   */
  serve(handler: RequestHandler, options: ServeOptions): Promise<RunningServer>;
  /**
   * Checks what {@linkcode Shell.serve} would serve.
   *
   * Throws a `MeshError` `invalid_certificate` or `invalid_key`.
   */
  checkTls(pair: TlsKeyPair): Promise<void>;
  /** Calls `task` on each of the signals, in place of ending the process. */
  onSignal<Name extends EndSignal | ReloadSignal>(signals: readonly Name[], task: (signal: Name) => void): Cancel;
  /** Ends the process. */
  exit(code: number): never;
  /** Several processes on one port. */
  readonly workers: Workers;
}
