/**
 * The connection to Redis: opened on first use, and reconnected automatically, to the server that has the keys by then.
 * @module
 */
import type { Cancel, Clock } from "../../src/contracts/runtime.ts";
import { ConnectorError } from "../../src/errors.ts";
import { afterRunning, RetryTimer } from "../../src/util/retry_timer.ts";
import type { RedisAddress, RedisNode } from "./_redis_address.ts";
import { isFailover, isMoved, isRedirected, redisId, toRedisError } from "./_redis_errors.ts";
import type { RedisClient } from "./_redis_package.ts";
import { type ScriptValues, toEval } from "./_redis_scripts.ts";
import { RedisServers } from "./_redis_servers.ts";
import { isSameNode } from "./_redis_slots.ts";

/**
 * Timeout of a reply, and of a connection until the server accepts commands, ms. A hanging server must not block its
 * callers, and another one may have its address by now.
 */
const replyTimeoutMs = 5000;
/** Minimum and maximum backoff between connection attempts, ms: a recovered server is detected within the maximum. */
const firstPauseMs = 50;
const maxPauseMs = 500;
/**
 * Time for which a new master is only corrected, ms. Meanwhile other processes add what it lacks of theirs: what it grants
 * before could exceed a limit.
 */
const settlingMs = 1000;
/** Interval of looking for another server, ms, while this one may not be the right one any more. */
const checkMs = 1000;

/** The error of a timeout. */
class Late extends Error {
  constructor() {
    super(`no response within ${replyTimeoutMs} ms`);
  }
}

/** Sends one command. */
export type Send = (...words: readonly string[]) => Promise<unknown>;

/** A client and its server. */
interface Link {
  readonly client: RedisClient;
  readonly node: RedisNode;
  /** Number of pending replies. */
  pending: number;
  /** Whether a reply has arrived since the last check. */
  hasReplied: boolean;
}

/** One connection, for commands and messages. */
export class RedisConnection {
  readonly #clock: Clock;
  readonly #servers: RedisServers;
  readonly #key: string;
  readonly #isReplica: boolean;
  #link: Link | undefined;
  /** The connection attempt in flight. */
  #connecting: Promise<void> | undefined;
  #attempted: RedisClient | undefined;
  #failure: unknown;
  /** The server of the last attempt. */
  #node: RedisNode;
  #followedAt = -Infinity;
  readonly #retries: RetryTimer;
  #cancelChecks: Cancel | undefined;
  #isClosed = false;
  /** Ends what is waited for. */
  readonly #waits = new Set<(reason: unknown) => void>();
  /** Channels by listener. */
  readonly #subscriptions = new Map<(message: string) => void, string>();
  /** The server of the last connection. */
  #connected: RedisNode | undefined;
  /** Called with each connection but the first, before anything else is sent. */
  onReconnect: ((send: Send) => Promise<void>) | undefined;

  /**
   * Does not connect yet.
   *
   * @param address Address of the server, which is named in errors until another one is found.
   * @param clock Times timeouts and backoff.
   */
  constructor(address: RedisAddress, clock: Clock, options: {
    /** The servers. @default those of the address */
    readonly servers?: RedisServers;
    /** A key that the server has; of importance in a cluster. */
    readonly key?: string;
    /** Whether it leads to a replica, and only reads. @default {false} */
    readonly isReplica?: boolean;
  } = {}) {
    const { servers = new RedisServers(address, { clock }), key = "", isReplica = false } = options;
    this.#clock = clock;
    this.#servers = servers;
    this.#key = key;
    this.#isReplica = isReplica;
    this.#node = address;
    const retry = () => this.#connect(false);
    this.#retries = new RetryTimer(clock, { firstMs: firstPauseMs, maxMs: maxPauseMs, retry });
  }

  /**
   * Sends a command.
   *
   * @param words The command and its arguments.
   * @throws {ConnectorError} If Redis is unavailable, rejects the command, or does not reply in time.
   */
  async send(...words: readonly string[]): Promise<unknown> {
    return await this.#call((client) => client.sendCommand(words));
  }

  /**
   * Runs a script, which is atomic.
   *
   * @param values Further arguments; a function returns them when they are sent.
   */
  async run(script: string, keys: readonly string[], values: ScriptValues | (() => ScriptValues)): Promise<unknown> {
    const getValues = typeof values === "function" ? values : () => values;
    return await this.#call((client) => client.sendCommand(toEval(script, keys, getValues())), script);
  }

  /** Subscribes until the returned function is called, across reconnections. */
  async subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>> {
    const listener = (message: string) => receive(message);
    await this.#call((client) => client.subscribe(channel, listener));
    this.#subscriptions.set(listener, channel);
    return async () => {
      this.#subscriptions.delete(listener);
      if (this.#link !== undefined) await this.#call((client) => client.unsubscribe(channel, listener));
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retries.reset();
    this.#cancelChecks?.();
    for (const client of [this.#link?.client, this.#attempted]) client?.destroy();
    for (const end of this.#waits) end(new Error("closed"));
    await this.#connecting;
    this.#link = undefined;
  }

  /** Calls the server. If another one has the keys by now, that one is called, once. */
  async #call<T>(ask: (client: RedisClient) => Promise<T>, script?: string): Promise<T> {
    const link = await this.#getLink();
    try {
      return await this.#awaitReply(link, ask);
    } catch (error) {
      if (!isMoved(error) || this.#connecting === undefined) throw this.#toError(error, link, script);
      await this.#connecting;
    }
    const next = await this.#getLink();
    return await this.#awaitReply(next, ask).catch((error) => {
      throw this.#toError(error, next, script);
    });
  }

  async #getLink(): Promise<Link> {
    if (this.#isClosed) throw new ConnectorError(`The storage "${redisId}" is closed`);
    if (this.#link === undefined && this.#failure === undefined) {
      await this.#servers.prepare();
      await (this.#connecting ?? this.#connect(true));
    }
    if (this.#link?.client.isReady) return this.#link;
    throw this.#toError(this.#failure, { node: this.#node });
  }

  /** Connects once. Resolves after success and failure; further attempts follow. */
  #connect(keepsAlive: boolean): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return this.#connecting = this.#within(() => this.#open(), keepsAlive).catch((error) => {
      this.#attempted?.destroy();
      this.#failure = error;
      if (!this.#isClosed) this.#retries.schedule();
    }).finally(() => this.#connecting = this.#attempted = undefined);
  }

  async #open(): Promise<void> {
    const node = this.#node = await this.#locate();
    const client = this.#attempted = this.#servers.createClient(node, this.#isReplica);
    const link: Link = { client, node, pending: 0, hasReplied: false };
    client.on("error", (error) => this.#lose(link, error));
    client.on("terminated", (cause) => this.#lose(link, cause));
    await client.connect();
    if (this.#connected !== undefined) {
      await this.onReconnect?.((...words) => client.sendCommand(words));
      // the keys of a slot that was moved are complete
      if (!isSameNode(node, this.#connected) && !isRedirected(this.#failure)) await this.#pause(settlingMs);
    }
    for (const [listener, channel] of this.#subscriptions) await client.subscribe(channel, listener);
    if (this.#isClosed || this.#attempted !== client || !client.isReady) return client.destroy();
    this.#link = link;
    this.#connected = node;
    this.#failure = undefined;
    if (this.#changes !== "never") this.#cancelChecks ??= this.#clock.every(checkMs, () => this.#check());
  }

  #locate(): Promise<RedisNode> {
    return this.#servers.locate(this.#key, this.#isReplica);
  }

  get #changes(): RedisServers["changes"] {
    return this.#isReplica ? "never" : this.#servers.changes;
  }

  /** Forgets a connection that has ended. */
  #lose(link: Link, cause: unknown): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#failure = cause;
    if (!this.#isClosed) this.#retries.schedule();
  }

  /** Closes the connection and makes a new one, which leads to the server that has the keys by then. */
  #drop(link: Link, reason: unknown, isAtOnce: boolean): void {
    if (this.#link !== link) return;
    const now = this.#clock.monotonic();
    const follows = isAtOnce && this.#changes !== "never" && now - this.#followedAt >= maxPauseMs;
    if (!follows) this.#lose(link, reason);
    else {
      this.#followedAt = now;
      this.#link = undefined;
      this.#failure = reason;
      this.#connect(link.pending > 0).catch(() => {}); // never rejects
    }
    link.client.destroy();
  }

  /** Leaves a server that hangs, or was replaced without having noticed. */
  async #check(): Promise<void> {
    const link = this.#link;
    if (link === undefined) return;
    const hangs = link.pending > 0 && !link.hasReplied;
    link.hasReplied = false;
    if (!hangs && this.#changes !== "silently") return;
    const node = await this.#within(() => this.#locate(), false).catch(() => link.node);
    if (isSameNode(node, link.node)) return;
    this.#drop(link, new Error("another server has taken its place"), true);
  }

  async #awaitReply<T>(link: Link, ask: (client: RedisClient) => Promise<T>): Promise<T> {
    link.pending++;
    try {
      const reply = await this.#within(() => ask(link.client), true);
      this.#retries.reset();
      link.hasReplied = true;
      return reply;
    } catch (error) {
      if (error instanceof Late || isFailover(error)) this.#drop(link, error, isMoved(error));
      throw error;
    } finally {
      link.pending--;
    }
  }

  /** Waits, until the connection is closed at most. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (reason: unknown) => {
        cancel();
        reject(reason);
      };
      const cancel = this.#clock.after(ms, () => {
        this.#waits.delete(end);
        resolve();
      });
      this.#waits.add(end);
    });
  }

  /** Waits with a timeout, which can keep the process alive meanwhile. Connections do not. */
  async #within<T>(work: () => Promise<T>, keepsAlive: boolean): Promise<T> {
    let stop = () => {};
    const ended = new Promise<never>((_, reject) => {
      const cancel = afterRunning(this.#clock, { ms: replyTimeoutMs, keepsAlive }, () => reject(new Late()));
      this.#waits.add(reject);
      stop = () => {
        cancel();
        this.#waits.delete(reject);
      };
    });
    try {
      return await Promise.race([work(), ended]);
    } finally {
      stop();
    }
  }

  #toError(error: unknown, { node, client }: Partial<Link> & Pick<Link, "node">, script?: string): ConnectorError {
    const cause = client === undefined || client.isReady ? error : this.#failure ?? error;
    return ConnectorError.isInstance(cause)
      ? cause
      : toRedisError(cause, { address: node, script, gaps: this.#servers.gaps });
  }
}
