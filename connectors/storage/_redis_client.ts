/**
 * The connection to Redis: opened on first use, and reconnected automatically.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import { ConnectorError } from "../../src/errors.ts";
import type { RedisAddress } from "./_redis_address.ts";
import { redisDeclaration } from "./declarations.ts";

/** The connector's id. */
export const redisId: string = redisDeclaration.id;

/** Connect timeout, ms. */
const connectTimeoutMs = 2000;
/** Timeout of a reply, ms: a hanging server must not block its callers. */
const answerTimeoutMs = 5000;
/** Minimum and maximum backoff between connection attempts, ms: a recovered server is detected within the maximum. */
const firstPauseMs = 50;
const maxPauseMs = 500;

/** The used part of `@redis/client`. */
interface Client {
  readonly isReady: boolean;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "ready" | "terminated", listener: () => void): unknown;
  connect(): Promise<unknown>;
  ref(): void;
  unref(): void;
  destroy(): void;
  sendCommand(words: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  unsubscribe(channel: string, listener: (message: string) => void): Promise<void>;
}

interface ClientModule {
  createClient(options: Readonly<Record<string, unknown>>): Client;
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
  #client: Promise<Client> | undefined;
  #failure: unknown;
  /** Number of pending replies. */
  #pending = 0;
  /** Backoff until the next connection attempt, ms. */
  #pauseMs = firstPauseMs;
  #cancelTry = () => {};
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
    return await this.#answered(client, () => client.sendCommand(words));
  }

  /** Runs a script, which is atomic. */
  run(script: string, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    return this.send("EVAL", script, String(keys.length), ...keys, ...values.map(String));
  }

  /** Subscribes until the returned function is called. */
  async subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>> {
    const client = await this.#ready();
    await this.#answered(client, () => client.subscribe(channel, receive));
    return async () => {
      if (client.isReady) await this.#answered(client, () => client.unsubscribe(channel, receive));
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTry();
    const client = await this.#client?.catch(() => undefined);
    client?.destroy();
  }

  async #ready(): Promise<Client> {
    if (this.#isClosed) throw new ConnectorError(`The storage "${redisId}" is closed`);
    const client = await (this.#client ??= this.#open());
    if (!client.isReady) throw this.#errorOf(this.#failure);
    return client;
  }

  /** Resolves after the first connection attempt, whether it succeeded or not; further attempts follow. */
  async #open(): Promise<Client> {
    const client = (await this.#load()).createClient(this.#options());
    await new Promise<void>((resolve) => {
      client.on("ready", () => {
        this.#pauseMs = firstPauseMs;
        resolve();
      });
      client.on("terminated", () => this.#connectLater(client));
      client.on("error", (error) => {
        this.#failure = error;
        resolve();
      });
      client.connect().catch(resolve);
    });
    client.unref();
    return client;
  }

  /** Reconnects with its own timer: the timers of the package would keep an otherwise idle process alive. */
  #connectLater(client: Client): void {
    if (this.#isClosed) return;
    this.#cancelTry = this.#clock.after(this.#pauseMs, () => {
      if (!this.#isClosed) client.connect().catch(() => {}); // a failure calls #connectLater again
    });
    this.#pauseMs = Math.min(2 * this.#pauseMs, maxPauseMs);
  }

  #options(): Readonly<Record<string, unknown>> {
    const { host, port, isTls, username, password, db } = this.#address;
    return {
      socket: {
        host,
        port,
        ...(isTls ? { tls: true } : {}),
        connectTimeout: connectTimeoutMs,
        reconnectStrategy: false, // see #connectLater
      },
      username,
      password,
      database: db,
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
  async #answered<T>(client: Client, ask: () => Promise<T>): Promise<T> {
    let cancel = () => {};
    if (this.#pending++ === 0) client.ref();
    const late = new Promise<never>((_, reject) => {
      cancel = this.#clock.after(answerTimeoutMs, () => reject(new Error(`no answer within ${answerTimeoutMs} ms`)));
    });
    try {
      return await Promise.race([ask(), late]);
    } catch (error) {
      throw this.#errorOf(error);
    } finally {
      cancel();
      if (--this.#pending === 0) client.unref();
    }
  }

  /** Redis error messages are exposed: they quote neither passwords nor values. */
  #errorOf(error: unknown): ConnectorError {
    const { host, port } = this.#address;
    const words = error instanceof Error ? error.message : "";
    const where = `Redis at ${host}:${port}`;
    if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(words)) {
      return new ConnectorError(
        `The storage "${redisId}" was denied access by ${where}: check username, password and permissions`,
        error,
        "forbidden",
      );
    }
    if (/^(OOM|MISCONF)/.test(words)) {
      return new ConnectorError(`The storage "${redisId}" cannot write: ${where} is full`, error, "full");
    }
    if (/^(ERR|WRONGTYPE|READONLY|LOADING)\b/.test(words)) {
      return new ConnectorError(`The storage "${redisId}" was rejected by ${where}: ${words}`, error);
    }
    return new ConnectorError(
      `The storage "${redisId}" cannot reach ${where}: check that it runs, and check the url or host`,
      error,
      "unavailable",
    );
  }
}
