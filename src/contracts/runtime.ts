/**
 * The runtime port: time, randomness, environment, files and network. Only `src/runtime/` accesses the runtime.
 * @module
 */

/** Cancels the operation that returned it, such as a timer or a subscription. Idempotent. */
export type Cancel = () => void;

/** Clock and timers. Delays of any length are safe: no implementation fires a long timer early. */
export interface Clock {
  /** Wall-clock time, ms since the Unix epoch: for dates, and for values that are stored or displayed. */
  now(): number;
  /** Monotonic time, ms: for delays and durations. It may stand still while the machine sleeps. */
  monotonic(): number;
  /**
   * Calls `task` once after `ms`. A long delay may end up to 50 ms late. The timer does not keep the process alive
   * unless `keepsAlive` is true.
   */
  after(ms: number, task: () => void, keepsAlive?: boolean): Cancel;
  /** Resolves after `ms`. Rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `task` every `ms`; calls never overlap. The timer does not keep the process alive. */
  every(ms: number, task: () => Promise<void>): Cancel;
  /**
   * Calls `listener` each time the wall clock has moved apart from the monotonic one, because it was set or the machine
   * slept; within about a second. It does not keep the process alive. Without this method, dates that a step has
   * reached take effect with the next request.
   */
  onStep?(listener: () => void): Cancel;
}

/** Reads and writes text files; absent in browsers. */
export interface FileSystem {
  /** Reads a file as text; throws if it is missing or unreadable. */
  readText(path: string): Promise<string>;
  /** Writes a text file. With `createNew`, throws if the file exists. */
  writeText(path: string, text: string, options?: { createNew?: boolean }): Promise<void>;
  /**
   * Replaces a text file atomically. An existing file keeps its permissions; a new one is accessible by its owner only.
   */
  replaceText(path: string, text: string): Promise<void>;
  /** Removes a file if it exists. */
  remove(path: string): Promise<void>;
}

/** An abort signal: an `AbortSignal`, or a lighter object that can create one. */
export interface StopSignal {
  /** Whether it is aborted. */
  readonly aborted: boolean;
  /** The abort reason, once aborted. */
  readonly reason: unknown;
  /** The equivalent `AbortSignal`, created on first access; absent if this is an `AbortSignal` itself. */
  readonly native?: AbortSignal;
  /** Calls `listener` when the signal aborts. */
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  /** Removes a listener. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** An abort controller: an `AbortController`, or a lighter object. */
export interface Stopper {
  /** The signal that `abort` aborts. */
  readonly signal: StopSignal;
  /** Aborts the signal. */
  abort(reason: unknown): void;
}

/** Loads code that is not part of the package; absent in browsers. */
export interface ModuleLoader {
  /** Reads a file as bytes; throws if it is missing or unreadable. */
  readBytes(path: string): Promise<Uint8Array>;
  /**
   * Imports an ES module from a set of files, with its relative imports, and returns its exports. The key identifies
   * the set: each set is imported once.
   */
  importFrom(
    files: ReadonlyMap<string, Uint8Array>,
    options: { readonly key: string; readonly entry: string },
  ): Promise<Readonly<Record<string, unknown>>>;
}

/** File metadata. */
export interface DiskStat {
  /** Size, bytes. */
  readonly size: number;
  /** Time of the last modification, ms since the Unix epoch. */
  readonly modifiedAt: number;
}

/**
 * Files that hold records. Writes are atomic and durable: complete or absent, even if the process is killed or the
 * machine loses power. New files and folders are accessible by their owner only. Absent in browsers.
 */
export interface Disk {
  /** Reads a file; undefined if it does not exist. */
  read(path: string): Promise<Uint8Array | undefined>;
  /**
   * Replaces a file atomically. An existing file keeps its permissions; a missing folder is created. A killed process
   * may leave a temporary file with the file's name, `~` and a suffix. Fails for a device or a folder.
   */
  replace(path: string, data: Uint8Array, options?: { modifiedAt?: number }): Promise<void>;
  /** Creates a file; false if it exists. */
  create(path: string, data: Uint8Array): Promise<boolean>;
  /** Appends to a file, creating the file and its folder if missing. Returns the new size, bytes. */
  append(path: string, data: Uint8Array): Promise<number>;
  /** Renames a file within its folder; false if it does not exist. Fails for a link or a device. */
  rename(path: string, to: string): Promise<boolean>;
  /** Removes a file; false if it did not exist. */
  remove(path: string): Promise<boolean>;
  /** Lists the names in a folder; folder names end in `/`. Empty if the folder does not exist. */
  list(folder: string): Promise<readonly string[]>;
  /** Size and modification time; undefined if the file does not exist. */
  stat(path: string): Promise<DiskStat | undefined>;
}

/** An open key-value store. A key is a list of parts. */
export interface KeyValues {
  /** The value, and its version for {@linkcode KeyValues.commit}; undefined and null if the key does not exist. */
  get(key: readonly string[]): Promise<{ readonly value: Uint8Array | undefined; readonly version: string | null }>;
  /** The keys that start with these parts. */
  list(prefix: readonly string[]): Promise<readonly (readonly string[])[]>;
  /** Applies all changes atomically; false if a version no longer matches. */
  commit(changes: {
    readonly check?: { readonly key: readonly string[]; readonly version: string | null };
    readonly set?: readonly [key: readonly string[], value: Uint8Array];
    readonly deletes?: readonly (readonly string[])[];
  }): Promise<boolean>;
  /** Closes the store. */
  close(): void;
}

/** Certificate authorities trusted in addition to the runtime's own. */
export interface Authorities {
  /** Identifies the set of certificates within this process. Connections with different sets are never shared. */
  readonly key: string;
  /** The certificates, PEM. */
  readonly certificates: readonly string[];
}

/** An HTTP request to a provider. */
export interface UpstreamRequest {
  /** Absolute URL. */
  readonly url: string;
  /** HTTP method. @default {"POST"} */
  readonly method?: string;
  /** Headers; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The request body: complete, or streamed. A streamed body is iterated once, after the connection is established,
   * with backpressure from the provider. If its iteration fails, the signal must be aborted.
   */
  readonly body?: string | Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array>;
  /** Aborts the request, including its connection. */
  readonly signal?: StopSignal;
  /** Called each time bytes of the response arrive. */
  readonly onBytes?: () => void;
  /** Connect timeout, ms, on runtimes that can measure the connection phase. */
  readonly connectTimeoutMs?: number;
  /** Whether the request never uses an outbound proxy, as for an address on the machine's own network. */
  readonly isDirect?: boolean;
  /** Whether the response is read at once rather than streamed; a runtime may use a faster client for that. */
  readonly isNonStreaming?: boolean;
  /** Certificate authorities trusted for this request in addition to the runtime's own. */
  readonly authorities?: Authorities | undefined;
}

/** Reads a response body chunk by chunk. */
export interface BodyReader extends Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel"> {
  /** Announces that each chunk will be used before the next one is read, so that it need not be a copy. */
  lend?(): void;
}

/** The response to an {@linkcode UpstreamRequest}: its head has been read, its body has not. */
export interface UpstreamResponse {
  /** HTTP status. Redirects are never followed. */
  readonly status: number;
  /** Response headers. */
  readonly headers: { get(name: string): string | null };
  /** The response body as a stream; null if there is none. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** Returns a reader of the response body, in place of `body`; null if there is none. */
  reader(): BodyReader | null;
  /**
   * Reads the complete response body, in place of `body`, on runtimes with a faster way to do so. No promise if it has
   * been received already.
   */
  bytes?(): Uint8Array | Promise<Uint8Array>;
  /**
   * Returns the complete response body as text, in place of `body`, if it has been received already and its bytes are
   * those of the text in UTF-8. Otherwise returns undefined, and the body is still to be read.
   */
  receivedText?(): string | undefined;
}

/** Decompresses the bytes that are written to it. */
export interface Decompressor {
  /** The decompressed bytes. */
  readonly readable: ReadableStream<Uint8Array>;
  /** Takes the compressed bytes. */
  readonly writable: WritableStream<Uint8Array>;
}

/** TLS on a connection whose server has to be asked for it. */
export interface SocketTls {
  /** What asks the server for TLS. */
  readonly request: Uint8Array;
  /** The byte with which the server consents. */
  readonly consent: number;
  /** Certificate authorities in place of the runtime's, PEM. */
  readonly ca?: string;
  /** Certificate of this client, PEM. */
  readonly cert?: string;
  /** Its key, PEM. */
  readonly key?: string;
  /** The name in the certificate of the server, if it is not the host. */
  readonly servername?: string;
}

/** Where a TCP connection leads. */
export interface SocketAddress {
  /** Host name or IP address. */
  readonly host: string;
  /** Port. */
  readonly port: number;
  /** Timeout until the connection can be used, ms. */
  readonly timeoutMs: number;
  /** TLS; without it, the connection is not encrypted. */
  readonly tls?: SocketTls;
}

/** A TCP connection: a socket of `node:net` or `node:tls`. */
export interface NetSocket {
  /** Closes it at once. */
  destroy(): unknown;
  /** Lets it keep the process alive. */
  ref(): unknown;
  /** Lets the process end while it is open. */
  unref(): unknown;
}

/** Reads environment variables. */
export interface Environment {
  /** Reads a variable; undefined if it is unset, or may not be read. */
  (name: string): string | undefined;
  /** Whether this process is not permitted to read a variable; absent if it may read all. */
  readonly isDenied?: (name: string) => boolean;
}

/** The runtime port. */
export interface Runtime {
  /** Clock and timers. */
  readonly clock: Clock;
  /** Returns a uniform random number in [0, 1). */
  readonly random: () => number;
  /** File access, if available. */
  readonly files?: FileSystem;
  /** Module loading, if available. */
  readonly modules?: ModuleLoader;
  /** Record files, if available. */
  readonly disk?: Disk;
  /** Opens the runtime's built-in key-value store, if it has one: the default store, or the one at `path`. */
  readonly openKeyValues?: (path?: string) => Promise<KeyValues>;
  /**
   * Sends an HTTP request to a provider.
   *
   * @throws A `NetworkError` whose message contains neither URL nor headers, or the signal's reason.
   */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
  /**
   * Reads a PEM file of certificate authorities; absent if the runtime does not support additional ones.
   *
   * @throws An `Error` that explains why the file is invalid.
   */
  readonly readAuthorities?: (path: string) => Promise<Authorities>;
  /**
   * Opens a TCP connection, for npm packages that take a socket; absent if the runtime has none.
   *
   * @throws An `Error` if it cannot be established within `timeoutMs`.
   */
  readonly openSocket?: (address: SocketAddress) => Promise<NetSocket>;
  /**
   * Creates a decompressor for `gzip`, `deflate`, `brotli` or `zstd`; undefined if the runtime has none for that format.
   * Without this method, those of `DecompressionStream` are used.
   */
  readonly createDecompressor?: (format: string) => Decompressor | undefined;
  /** Creates an abort controller for a call; `AbortController` is used when omitted. */
  stopper?(): Stopper;
  /** Reads an environment variable; undefined if unset. */
  readonly env: Environment;
  /**
   * Requires the permission to connect to an address, for npm packages that open connections themselves; absent if the
   * runtime has no such permission.
   *
   * @throws The runtime's error.
   */
  readonly requireConnection?: (address: Pick<SocketAddress, "host" | "port">) => void;
  /**
   * Takes note of a short-lived secret, such as a token that a connector was issued, so that records do not contain it.
   * Provided by a mesh.
   */
  addSecret?(value: string): void;
}
