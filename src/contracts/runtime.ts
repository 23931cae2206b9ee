/**
 * The only door to the outside: time, chance, environment, files and network. Nothing outside
 * `src/runtime/` knows which runtime it is on.
 * @module
 */

/** Undoes what it was returned for; calling it twice is harmless. */
export type Cancel = () => void;

/** Time. Waits of any length are safe: no implementation lets a long one fire early. */
export interface Clock {
  /** Wall clock, ms since 1970: for what is stored and shown. */
  now(): number;
  /** Never goes back, ms: for waits and durations. */
  monotonic(): number;
  /** Calls `task` once after `ms`, a long wait may end up to 50 ms late; keeps no process alive. */
  after(ms: number, task: () => void): Cancel;
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
}

/** What is known of a file without reading it. */
export interface DiskStat {
  /** Its size, bytes. */
  readonly size: number;
  /** When it was written last: wall clock, ms since 1970. */
  readonly modifiedAt: number;
}

/**
 * Files of bytes for whoever keeps records in them: written whole or not at all, also when the process is killed or the
 * machine loses power. Files are for their owner alone, and so are folders that are made. Absent in browsers.
 */
export interface Disk {
  /** All of a file; undefined when there is none. */
  read(path: string): Promise<Uint8Array | undefined>;
  /**
   * Writes a file in place of one that is there, whose permissions stay; its folder is made when missing. What a killed
   * process leaves behind is called like the file, `~` and more.
   */
  replace(path: string, data: Uint8Array, options?: { modifiedAt?: number }): Promise<void>;
  /** Writes a file that is not there yet; false when it is. */
  create(path: string, data: Uint8Array): Promise<boolean>;
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

/** One HTTP call to a provider. */
export interface UpstreamRequest {
  /** Absolute, with scheme. */
  readonly url: string;
  /** `POST` unless said. */
  readonly method?: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, whole. */
  readonly body?: string | Uint8Array;
  /** Ends the call, its connection included. */
  readonly signal?: AbortSignal;
  /** Told each time bytes of the answer arrive. */
  readonly onBytes?: () => void;
  /** Longest wait for a connection, ms, where the runtime can tell that phase. */
  readonly connectTimeoutMs?: number;
  /** The answer is read at once, not as it arrives: runtimes may have a quicker client for that. */
  readonly isWhole?: boolean;
}

/** Reads a body piece by piece. */
export type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** The answer to an {@linkcode UpstreamRequest}: head read, body not yet. */
export interface UpstreamResponse {
  /** HTTP status; redirects are never followed. */
  readonly status: number;
  /** Answer headers. */
  readonly headers: { get(name: string): string | null };
  /** The body as it arrives; null when there is none. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** Reads the body as it arrives, in place of `body`; null when there is none. */
  reader(): BodyReader | null;
  /** The whole body at once, in place of `body`, where the runtime has a quicker way to read it. */
  bytes?(): Promise<Uint8Array>;
}

/** What a {@linkcode Runtime} lets the outside in by. */
export interface Runtime {
  /** Time. */
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Files, where there are any. */
  readonly files?: FileSystem;
  /** Files of records, where there are any. */
  readonly disk?: Disk;
  /** Opens the runtime's own key-value store, where it has one: the program's, or that of a file. */
  readonly openKeyValues?: (path?: string) => Promise<KeyValues>;
  /**
   * The upstream HTTP client. Throws a `NetworkError` whose text quotes neither URL nor header, or
   * the signal's reason.
   */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
  /** An environment variable, undefined when unset. */
  env(name: string): string | undefined;
}
