/**
 * The runtime port: time, randomness, environment, files and network. Only `src/runtime/` knows the runtime.
 * @module
 */

/** Undoes what it was returned for; calling it twice is harmless. */
export type Cancel = () => void;

/** Time. Waits of any length are safe: no implementation lets a long one fire early. */
export interface Clock {
  /** Wall-clock time, ms since 1970: for what is stored and shown. */
  now(): number;
  /** Never goes back, ms: for waits and durations. */
  monotonic(): number;
  /** Calls `task` once after `ms`, a long wait may end up to 50 ms late; keeps no process alive, unless it says so. */
  after(ms: number, task: () => void, keepsAlive?: boolean): Cancel;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `task` every `ms`, never two at once; keeps no process alive. */
  every(ms: number, task: () => Promise<void>): Cancel;
}

/** Reading and writing files; absent in browsers. */
export interface FileSystem {
  /** The whole text of a file; throws when it is missing or unreadable. */
  readText(path: string): Promise<string>;
  /** Writes a text file whole; `createNew` refuses to replace one. */
  writeText(path: string, text: string, options?: { createNew?: boolean }): Promise<void>;
  /**
   * Writes a text file whole or not at all, in place of one that is there: its permissions stay. A new one is for its
   * owner alone.
   */
  replaceText(path: string, text: string): Promise<void>;
  /** Removes a file, if it is there. */
  remove(path: string): Promise<void>;
}

/** Signals that work has to stop: an `AbortSignal`, or something lighter that can become one. */
export interface StopSignal {
  /** Whether it has aborted. */
  readonly aborted: boolean;
  /** The reason, once it has. */
  readonly reason: unknown;
  /** The same as an `AbortSignal`, where it is none itself; made when it is asked for. */
  readonly native?: AbortSignal;
  /** Calls `listener` when it aborts. */
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  /** Removes a listener. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Stops work: an `AbortController`, or something lighter. */
export interface Stopper {
  /** Aborts with `abort`. */
  readonly signal: StopSignal;
  /** Stops it. */
  abort(reason: unknown): void;
}

/** Code from elsewhere; absent in browsers. */
export interface ModuleLoader {
  /** The whole of a file; throws when it is missing or unreadable. */
  readBytes(path: string): Promise<Uint8Array>;
  /**
   * Imports one of a set of ES modules and the files that these read, and returns its exports. The key identifies the
   * set; the same set is imported once.
   */
  importFrom(
    files: ReadonlyMap<string, Uint8Array>,
    options: { readonly key: string; readonly entry: string },
  ): Promise<Readonly<Record<string, unknown>>>;
}

/** What is known of a file without reading it. */
export interface DiskStat {
  /** Its size, bytes. */
  readonly size: number;
  /** When it was last written: wall-clock time, ms since 1970. */
  readonly modifiedAt: number;
}

/**
 * Files that hold records. They are written completely or not at all, also when the process is killed or the machine
 * loses power. Files and new folders are readable by their owner alone. Absent in browsers.
 */
export interface Disk {
  /** All of a file; undefined when there is none. */
  read(path: string): Promise<Uint8Array | undefined>;
  /**
   * Writes a file in place of one that is there, whose permissions stay; its folder is made when missing. What a killed
   * process leaves behind is called like the file, `~` and more. A device or a folder is not replaced: that fails.
   */
  replace(path: string, data: Uint8Array, options?: { modifiedAt?: number }): Promise<void>;
  /** Writes a file that is not there yet; false when it is. */
  create(path: string, data: Uint8Array): Promise<boolean>;
  /** Adds to the end of a file, which is made with its folder when missing; returns its size, bytes. */
  append(path: string, data: Uint8Array): Promise<number>;
  /** Gives a file another name in its folder; false when there is no such file. Fails for a link and a device. */
  rename(path: string, to: string): Promise<boolean>;
  /** Whether there was one to remove. */
  remove(path: string): Promise<boolean>;
  /** The names in a folder, none when there is no such folder; those of folders end in `/`. */
  list(folder: string): Promise<readonly string[]>;
  /** Size and time; undefined when there is no such file. */
  stat(path: string): Promise<DiskStat | undefined>;
}

/** A key-value store that is open. Keys have parts. */
export interface KeyValues {
  /** A value, and the version to check for; undefined and null when there is none. */
  get(key: readonly string[]): Promise<{ readonly value: Uint8Array | undefined; readonly version: string | null }>;
  /** The keys that begin with these parts. */
  list(prefix: readonly string[]): Promise<readonly (readonly string[])[]>;
  /** Does all of it, or nothing: false when the version is another one by now. */
  commit(changes: {
    readonly check?: { readonly key: readonly string[]; readonly version: string | null };
    readonly set?: readonly [key: readonly string[], value: Uint8Array];
    readonly deletes?: readonly (readonly string[])[];
  }): Promise<boolean>;
  /** Closes it. */
  close(): void;
}

/** Certificate authorities that are trusted beside the runtime's own. */
export interface Authorities {
  /** Of these certificates, in this process: connections that trust others are never shared. */
  readonly key: string;
  /** In PEM. */
  readonly certificates: readonly string[];
}

/** One HTTP call to a provider. */
export interface UpstreamRequest {
  /** Absolute, with scheme. */
  readonly url: string;
  /** Of HTTP. @default {"POST"} */
  readonly method?: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body: whole, or as it comes. One that comes is read once, not before there is a connection, and no faster than
   * the provider takes it; an error of it has to abort the signal.
   */
  readonly body?: string | Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array>;
  /** Ends the call, its connection included. */
  readonly signal?: StopSignal;
  /** Called each time bytes of the response arrive. */
  readonly onBytes?: () => void;
  /** Limit of the wait for a connection, ms, where the runtime can measure that phase. */
  readonly connectTimeoutMs?: number;
  /** The response is read at once, not as it arrives: runtimes may have a faster client for that. */
  readonly isWhole?: boolean;
  /** Trusted for this call beside the runtime's own. */
  readonly authorities?: Authorities | undefined;
}

/** Reads a body chunk by chunk. */
export type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** The response to an {@linkcode UpstreamRequest}: its head is read, its body is not. */
export interface UpstreamResponse {
  /** HTTP status; redirects are never followed. */
  readonly status: number;
  /** Response headers. */
  readonly headers: { get(name: string): string | null };
  /** The body as it arrives; null when there is none. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** Reads the body as it arrives, in place of `body`; null when there is none. */
  reader(): BodyReader | null;
  /** The whole body at once, in place of `body`, where the runtime has a quicker way to read it. */
  bytes?(): Promise<Uint8Array>;
}

/** The runtime port. */
export interface Runtime {
  /** Time. */
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Files, where there are any. */
  readonly files?: FileSystem;
  /** Code from elsewhere, where it can be loaded. */
  readonly modules?: ModuleLoader;
  /** Files of records, where there are any. */
  readonly disk?: Disk;
  /** Opens the runtime's own key-value store, where it has one: the program's, or that of a file. */
  readonly openKeyValues?: (path?: string) => Promise<KeyValues>;
  /**
   * The upstream HTTP client. Throws a `NetworkError` whose message quotes neither URL nor header, or
   * the signal's reason.
   */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
  /**
   * Reads a file of certificate authorities in PEM; absent where the runtime's own cannot be added to. Throws an `Error`
   * that says why the file is of no use.
   */
  readonly readAuthorities?: (path: string) => Promise<Authorities>;
  /** Makes a stopper for a call; an `AbortController` where there is nothing lighter. */
  stopper?(): Stopper;
  /** An environment variable, undefined when unset. */
  env(name: string): string | undefined;
}
