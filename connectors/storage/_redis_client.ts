/**
 * The connection to Redis: opened on first use, and reconnected automatically.
 * @module
 */
import type { Cancel, Clock } from "../../src/contracts/runtime.ts";
import { ConnectorError } from "../../src/errors.ts";
import { afterRunning, RetryTimer } from "../../src/util/retry_timer.ts";
import type { RedisAddress } from "./_redis_address.ts";
import { isFailover, redisId, toRedisError } from "./_redis_errors.ts";

/** Connect timeout, ms. */
const connectTimeoutMs = 2000;
/**
 * Timeout of a reply, and of a connection until the server accepts commands, ms. A hanging server must not block its
 * callers, and another one may have its address by now.
 */
const replyTimeoutMs = 5000;
/** Minimum and maximum backoff between connection attempts, ms: a recovered server is detected within the maximum. */
const firstPauseMs = 50;
const maxPauseMs = 500;

/** The used part of `@redis/client`. */
interface RedisClient {
  readonly isReady: boolean;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "terminated", listener: () => void): unknown;
  connect(): Promise<unknown>;
  ref(): void;
  unref(): void;
  destroy(): void;
  sendCommand(words: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  unsubscribe(channel: string, listener: (message: string) => void): Promise<void>;
}

interface ClientModule {
  createClient(options: Readonly<Record<string, unknown>>): RedisClient;
}

/** Bundlers treat an import whose rejection is handled as optional. */
function notInstalled(error: unknown): never {
  throw error;
}

const importInstalled = (): Promise<unknown> =>
  // deno-lint-ignore no-import-prefix -- an entry in deno.json would be downloaded before any task
  import("npm:@redis/client@6.3.1").catch(notInstalled);

/**
 * Loads `@redis/client`.
 *
 * @param importClient Imports a replacement of the installed package.
 * @throws {ConnectorError} If it is not installed.
 */
export async function loadRedisClient(importClient: () => Promise<unknown> = importInstalled): Promise<unknown> {
  try {
    return await importClient();
  } catch (error) {
    throw new ConnectorError(
      `The storage "${redisId}" requires the package "@redis/client", which is not installed: ` +
        'add it with "npm install @redis/client@6"',
      error,
    );
  }
}

/** One connection, for commands and messages. */
export class RedisConnection {
  readonly #address: RedisAddress;
  readonly #clock: Clock;
  readonly #importClient: (() => Promise<unknown>) | undefined;
  #client: Promise<RedisClient> | undefined;
  #failure: unknown;
  /** Number of pending replies. */
  #pending = 0;
  #reconnecting: RetryTimer | undefined;
  #cancelConnect: Cancel = () => {};
  #isClosed = false;

  /**
   * Does not connect yet.
   *
   * @param address Address of the server.
   * @param clock Times timeouts and backoff.
   * @param importClient Loads `@redis/client`.
   */
  constructor(address: RedisAddress, clock: Clock, importClient?: () => Promise<unknown>) {
    this.#address = address;
    this.#clock = clock;
    this.#importClient = importClient;
  }

  /**
   * Sends a command.
   *
   * @param words The command and its arguments.
   * @throws {ConnectorError} If Redis is unavailable, rejects the command, or does not reply in time.
   */
  async send(...words: readonly string[]): Promise<unknown> {
    const client = await this.#ready();
    return await this.#awaitReply(client, () => client.sendCommand(words));
  }

  /** Runs a script, which is atomic. */
  async run(script: string, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    const client = await this.#ready();
    const words = ["EVAL", script, String(keys.length), ...keys, ...values.map(String)];
    return await this.#awaitReply(client, () => client.sendCommand(words), script);
  }

  /** Subscribes until the returned function is called. */
  async subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>> {
    const client = await this.#ready();
    await this.#awaitReply(client, () => client.subscribe(channel, receive));
    return async () => {
      if (client.isReady) await this.#awaitReply(client, () => client.unsubscribe(channel, receive));
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reconnecting?.reset();
    this.#cancelConnect();
    const client = await this.#client?.catch(() => undefined);
    client?.destroy();
  }

  async #ready(): Promise<RedisClient> {
    if (this.#isClosed) throw new ConnectorError(`The storage "${redisId}" is closed`);
    const client = await (this.#client ??= this.#open());
    if (!client.isReady) throw this.#toError(this.#failure);
    return client;
  }

  /** Resolves after the first connection attempt, whether it succeeded or not; further attempts follow. */
  async #open(): Promise<RedisClient> {
    const client = (await this.#load()).createClient(this.#options());
    const retry = () => this.#connect(client);
    this.#reconnecting = new RetryTimer(this.#clock, { firstMs: firstPauseMs, maxMs: maxPauseMs, retry });
    client.on("terminated", () => this.#reconnect());
    client.on("error", (error) => this.#failure = error);
    await this.#connect(client);
    client.unref();
    return client;
  }

  /** Connects once. Retries use a timer of our own, since those of the package would keep an idle process alive. */
  async #connect(client: RedisClient): Promise<void> {
    if (this.#isClosed) return;
    const timer = { ms: replyTimeoutMs };
    const late = new Promise<void>((resolve) => {
      this.#cancelConnect = afterRunning(this.#clock, timer, () => {
        this.#drop(client, new Error(`not ready within ${replyTimeoutMs} ms`));
        resolve();
      });
    });
    const connected = client.connect().then(() => {}, (error) => {
      this.#failure ??= error;
    });
    await Promise.race([connected, late]);
    this.#cancelConnect();
  }

  /** Closes the connection and makes a new one, which leads to the server that has the address by then. */
  #drop(client: RedisClient, reason: unknown): void {
    this.#failure = reason;
    client.destroy();
    this.#reconnect();
  }

  #reconnect(): void {
    if (!this.#isClosed) this.#reconnecting?.schedule();
  }

  #options(): Readonly<Record<string, unknown>> {
    const { host, port, isTls, username, password, db } = this.#address;
    return {
      socket: {
        host,
        port,
        ...(isTls ? { tls: true } : {}),
        connectTimeout: connectTimeoutMs,
        reconnectStrategy: false, // see #connect
      },
      username,
      password,
      database: db,
      disableClientInfo: true, // one command less that an access control list has to allow
      disableOfflineQueue: true, // the caller decides what to do while Redis is unavailable
      maintNotifications: "disabled",
    };
  }

  async #load(): Promise<ClientModule> {
    try {
      return await loadRedisClient(this.#importClient) as ClientModule;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }

  /** Keeps the process alive until the reply arrives, which an idle connection does not. */
  async #awaitReply<T>(client: RedisClient, ask: () => Promise<T>, script?: string): Promise<T> {
    let cancel = () => {};
    let isLate = false;
    if (this.#pending++ === 0) client.ref();
    const late = new Promise<never>((_, reject) => {
      cancel = afterRunning(this.#clock, { ms: replyTimeoutMs }, () => {
        isLate = true;
        reject(new Error(`no response within ${replyTimeoutMs} ms`));
      });
    });
    try {
      const reply = await Promise.race([ask(), late]);
      this.#failure = undefined;
      this.#reconnecting?.reset();
      return reply;
    } catch (error) {
      if (client.isReady && (isLate || isFailover(error))) this.#drop(client, error);
      throw this.#toError(client.isReady ? error : this.#failure ?? error, script);
    } finally {
      cancel();
      if (--this.#pending === 0) client.unref();
    }
  }

  #toError(error: unknown, script?: string): ConnectorError {
    return toRedisError(error, { address: this.#address, script });
  }
}
