/**
 * One connection to PostgreSQL. It is never opened again: a connection that breaks is replaced by another one.
 * @module
 */
import type { Cancel, Clock, NetSocket, Runtime } from "../../src/contracts/runtime.ts";
import { afterRunning } from "../../src/util/retry_timer.ts";
import type { PostgresAddress, PostgresTls } from "./_postgres_address.ts";
import { notInstalledError } from "./_postgres_errors.ts";

/** Connect timeout, ms. */
const connectTimeoutMs = 2000;
/** Timeout of a reply, ms. A hanging server must not block its callers. */
const replyTimeoutMs = 5000;
/** Timeout of a statement in the server, ms. Its connection is not used any more by then. */
const statementTimeoutMs = 6000;
/** Interval of TCP's own probes of an idle connection, s. */
const keepAliveSeconds = 30;

/** How a client asks for TLS, and the byte `S`, with which the server consents. */
const tlsRequest = { request: Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47), consent: 83 };

/** A row; values as text, except those of integers up to 32 bits, booleans and bytes. */
export type PostgresRow = Readonly<Record<string, unknown>>;

/** The used part of the package `postgres`. */
interface PostgresClient {
  unsafe(
    text: string,
    values?: readonly unknown[],
    options?: { readonly prepare?: boolean },
  ): PromiseLike<readonly PostgresRow[]>;
  end(options: { readonly timeout: number }): Promise<void>;
}

/** Bundlers treat an import whose rejection is handled as optional. */
function notInstalled(error: unknown): never {
  throw error;
}

const importInstalled = (): Promise<unknown> =>
  // deno-lint-ignore no-import-prefix -- an entry in deno.json would be downloaded before any task
  import("npm:postgres@3.4.9").catch(notInstalled);

/**
 * Loads the package `postgres`.
 *
 * @param importClient Imports a replacement of the installed package.
 * @throws {ConnectorError} If it is not installed.
 */
export async function loadPostgresClient(importClient: () => Promise<unknown> = importInstalled): Promise<unknown> {
  try {
    return await importClient();
  } catch (error) {
    throw notInstalledError(error);
  }
}

/** What a connection needs. */
export interface PostgresLinkParts {
  readonly runtime: Pick<Runtime, "openSocket"> & { readonly clock: Pick<Clock, "after"> };
  readonly address: PostgresAddress;
  /** The loaded package. */
  readonly client: unknown;
  /** Names and certificates of TLS, PEM. */
  readonly tls: PostgresTls;
  /** Whether statements are prepared. */
  readonly isPrepared: boolean;
  /** Called once when the connection has ended; pending statements have failed by then. */
  readonly onEnd?: (reason: unknown) => void;
  /** Receives notifications. */
  readonly onNotification?: (channel: string, payload: string) => void;
}

/** Defaults of the package, which would otherwise read variables of the environment that programs on a machine share. */
const environmentDefaults = {
  sslnegotiation: null,
  max_pipeline: 100,
  backoff: (retries: number) => Math.min(3 ** retries / 100, 20), // seconds
  debug: false,
  publications: "alltables",
  target_session_attrs: null,
} as const;

/** One connection, which is established by its first statement. */
export class PostgresLink {
  readonly #parts: PostgresLinkParts;
  readonly #sql: PostgresClient;
  #socket: NetSocket | undefined;
  #hasConnected = false;
  #isOver = false;
  /** Rejects pending statements. */
  readonly #pending = new Set<(reason: unknown) => void>();

  /** Does not connect yet. */
  constructor(parts: PostgresLinkParts) {
    this.#parts = parts;
    this.#sql = (parts.client as {
      default(options: Readonly<Record<string, unknown>>): PostgresClient;
    }).default(this.#options());
  }

  /**
   * Sends a statement.
   *
   * @param text The statement; without values, it may be a script of several.
   * @throws The error of the server, or of the network; an error without a reply in time.
   */
  query(text: string, values?: readonly unknown[]): Promise<readonly PostgresRow[]> {
    if (this.#pending.size === 0) this.#socket?.ref();
    return new Promise((resolve, reject) => {
      const settle = () => {
        cancel();
        this.#pending.delete(fail);
        if (this.#pending.size === 0) this.#socket?.unref();
      };
      const fail = (reason: unknown) => {
        settle();
        reject(reason);
      };
      const cancel: Cancel = afterRunning(this.#parts.runtime.clock, { ms: replyTimeoutMs }, () => {
        this.destroy(new Error(`no response within ${replyTimeoutMs} ms`));
      });
      this.#pending.add(fail);
      this.#send(text, values).then((rows) => {
        settle();
        resolve(rows);
      }, fail);
    });
  }

  /** Closes the connection at once. Pending statements fail; the server may have executed them. */
  destroy(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const fail of this.#pending) fail(reason);
    this.#socket?.destroy();
    this.#parts.onEnd?.(reason);
  }

  /** Closes the connection after pending statements. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#sql.end({ timeout: 1 }).catch(() => {});
    this.#socket?.destroy();
  }

  async #send(text: string, values: readonly unknown[] | undefined): Promise<readonly PostgresRow[]> {
    return values === undefined
      ? await this.#sql.unsafe(text)
      : await this.#sql.unsafe(text, values, { prepare: this.#parts.isPrepared });
  }

  #options(): Readonly<Record<string, unknown>> {
    const { address: { host, port, username, password, database }, isPrepared } = this.#parts;
    return {
      host: [host],
      port: [port],
      database,
      username,
      pass: () => password ?? "", // a function, which the environment does not replace
      ssl: false, // the socket is encrypted before the package gets it
      max: 1,
      prepare: isPrepared,
      fetch_types: false,
      connect_timeout: 0,
      idle_timeout: 0,
      max_lifetime: 0,
      keep_alive: keepAliveSeconds,
      ...environmentDefaults,
      connection: {
        application_name: "modelmesh",
        ...(isPrepared ? { statement_timeout: statementTimeoutMs } : {}), // poolers accept no such parameter
      },
      no_subscribe: true,
      onnotice: () => {},
      onnotify: this.#parts.onNotification,
      onclose: () => this.destroy(new Error("the connection was closed")),
      socket: () => this.#connect(),
    };
  }

  /** Opens the socket, once: the package would open another one. */
  async #connect(): Promise<NetSocket> {
    const { runtime: { openSocket }, address: { host, port, isTls }, tls } = this.#parts;
    if (openSocket === undefined) throw new Error("this runtime has no TCP connections");
    if (this.#hasConnected) throw new Error("the connection was closed");
    this.#hasConnected = true;
    try {
      const socket = await openSocket({
        host,
        port,
        timeoutMs: connectTimeoutMs,
        ...(isTls ? { tls: { ...tls, ...tlsRequest } } : {}),
      });
      if (this.#isOver) socket.destroy();
      return this.#socket = socket;
    } catch (error) {
      this.destroy(error);
      throw error;
    }
  }
}
