/**
 * The connection to a Redis: loaded and opened at first use, opened again by itself.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import { ConnectorError } from "../../src/errors.ts";
import type { RedisAddress } from "./_redis_address.ts";
import { redisDeclaration } from "./declarations.ts";

/** The connector's id. */
export const redisId: string = redisDeclaration.id;

/** Longest wait for a connection, ms. */
const connectTimeoutMs = 2000;
/** Limit of the wait for a reply, ms: a Redis that hangs must not hang its callers. */
const answerTimeoutMs = 5000;
/** The first time between two tries to connect, and its limit, ms: a recovered Redis is noticed within it. */
const firstPauseMs = 50;
const maxPauseMs = 500;

/** The part of `@redis/client` that is used. */
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

/** Bundlers take an import whose failure is caught for one that need not be there. */
function notInstalled(error: unknown): never {
  throw error;
}

const importInstalled = (): Promise<unknown> =>
  // deno-lint-ignore no-import-prefix -- an entry in deno.json would be downloaded before any task
  import("npm:@redis/client@6.3.1").catch(notInstalled);

/**
 * Loads `@redis/client`.
 *
 * @param importClient Imports it, where it is not the installed one.
 * @throws {ConnectorError} When it is not installed.
 */
export async function loadRedisClient(importClient: () => Promise<unknown> = importInstalled): Promise<unknown> {
  try {
    return await importClient();
  } catch (error) {
    throw new ConnectorError(
      `The storage "${redisId}" needs the package "@redis/client", which is not installed: ` +
        'add it with "npm install @redis/client@6"',
      error,
    );
  }
}

/** One connection, for commands and messages alike. */
export class RedisConnection {
  readonly #address: RedisAddress;
  readonly #clock: Clock;
  readonly #importClient: (() => Promise<unknown>) | undefined;
  #client: Promise<Client> | undefined;
  #failure: unknown;
  /** Answers that are waited for. */
  #pending = 0;
  /** The time until the next try to connect, ms. */
  #pauseMs = firstPauseMs;
  #cancelTry = () => {};
  #isClosed = false;

  /**
   * Opens nothing yet.
   *
   * @param address Where to.
   * @param clock For time limits.
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
   * @param words Its name and arguments.
   * @throws {ConnectorError} When Redis is unavailable, refuses it, or does not reply.
   */
  async send(...words: readonly string[]): Promise<unknown> {
    const client = await this.#ready();
    return await this.#answered(client, () => client.sendCommand(words));
  }

  /** Runs a script: one atomic step. */
  run(script: string, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    return this.send("EVAL", script, String(keys.length), ...keys, ...values.map(String));
  }

  /** Listens until the returned function is called. */
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

  /** Resolves after the first try to connect, however it went: further ones follow. */
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

  /** Tries again by itself: the waits of the package would keep a process alive that has nothing else to do. */
  #connectLater(client: Client): void {
    if (this.#isClosed) return;
    this.#cancelTry = this.#clock.after(this.#pauseMs, () => {
      if (!this.#isClosed) client.connect().catch(() => {}); // it is terminated again
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
      disableOfflineQueue: true, // the caller decides what to do while it is unavailable
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

  /** Keeps the process alive until the response is there: an idle connection does not. */
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

  /** Texts of Redis are its own words for what is the matter; they quote neither password nor value. */
  #errorOf(error: unknown): ConnectorError {
    const { host, port } = this.#address;
    const words = error instanceof Error ? error.message : "";
    const where = `Redis at ${host}:${port}`;
    if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(words)) {
      return new ConnectorError(
        `The storage "${redisId}" is refused by ${where}: check username and password, and what they permit`,
        error,
        "forbidden",
      );
    }
    if (/^(OOM|MISCONF)/.test(words)) {
      return new ConnectorError(`The storage "${redisId}" cannot write: ${where} is full`, error, "full");
    }
    if (/^(ERR|WRONGTYPE|READONLY|LOADING)\b/.test(words)) {
      return new ConnectorError(`The storage "${redisId}" is refused by ${where}: ${words}`, error);
    }
    return new ConnectorError(
      `The storage "${redisId}" cannot reach ${where}: check that it runs, and what the url or host says`,
      error,
      "unavailable",
    );
  }
}
