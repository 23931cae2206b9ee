/**
 * Records, locks and shared sums in a Redis (6.2 or later, or what speaks like it).
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { ConfigError } from "../../src/errors.ts";
import { prefixOf, withCredentials } from "./_attributes.ts";
import { acquireLock } from "./_lock.ts";
import { type RedisAddress, redisAddress } from "./_redis_address.ts";
import { loadRedisClient, RedisConnection, redisId } from "./_redis_client.ts";
import { RedisShared } from "./_redis_shared.ts";
import { redisDeclaration } from "./declarations.ts";

const saveScript = `
redis.call('HSET', KEYS[1], 'data', ARGV[1], 'size', ARGV[2], 'at', ARGV[3])
redis.call('SADD', KEYS[2], ARGV[4])`;

const deleteScript = `
redis.call('SREM', KEYS[2], ARGV[1])
return redis.call('DEL', KEYS[1])`;

const acquireScript = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/** Options of a {@linkcode RedisStorage}. */
export interface RedisStorageOptions {
  /** Where the Redis is. */
  readonly address: RedisAddress;
  /** What all its keys begin with; `modelmesh` unless given. Those who share a Redis and a prefix share everything. */
  readonly prefix?: string;
  /** After so long without a call a process counts as ended, and what it leases is free, ms. @default {15_000} */
  readonly leaseMs?: number;
  /** Loads `@redis/client`, where it is not the installed one. */
  readonly importClient?: () => Promise<unknown>;
}

/** A storage in a Redis. Its locks end by Redis's clock, whatever happens to their owners. */
export class RedisStorage implements Storage {
  /** Sums and messages of all who share the Redis and the prefix. */
  readonly shared: RedisShared;
  readonly #clock: Clock;
  readonly #connection: RedisConnection;
  readonly #prefix: string;

  /**
   * Makes one; connects at first use.
   *
   * @param clock For the times of records.
   * @param options Where it is.
   * @throws {ConfigError} When the prefix does not fit.
   */
  constructor(clock: Clock, { address, prefix = "modelmesh", leaseMs, importClient }: RedisStorageOptions) {
    if (typeof prefix !== "string" || !/^[\w.:-]{1,64}$/.test(prefix)) {
      throw new ConfigError([{
        path: "storage.prefix",
        message: 'expected 1 to 64 letters, digits, ".", ":", "_" or "-"',
      }]);
    }
    this.#clock = clock;
    this.#prefix = prefix;
    this.#connection = new RedisConnection(address, clock, importClient);
    this.shared = new RedisShared(this.#connection, clock, prefix, leaseMs);
  }

  async load(key: string): Promise<Uint8Array | undefined> {
    const text = await this.#connection.send("HGET", this.#record(key), "data");
    return typeof text === "string" ? bytesOf(text) : undefined;
  }

  async save(key: string, data: Uint8Array): Promise<void> {
    const values = [textOf(data), data.length, this.#clock.now(), key];
    await this.#connection.run(saveScript, [this.#record(key), this.#keys], values);
  }

  async list(prefix = ""): Promise<readonly string[]> {
    const keys = await this.#connection.send("SMEMBERS", this.#keys) as Iterable<string>;
    return [...keys].filter((key) => key.startsWith(prefix)).sort();
  }

  async delete(key: string): Promise<boolean> {
    return await this.#connection.run(deleteScript, [this.#record(key), this.#keys], [key]) === 1;
  }

  async stat(key: string): Promise<StorageStat | undefined> {
    const [size, at] = await this.#connection.send("HMGET", this.#record(key), "size", "at") as (string | null)[];
    return typeof size === "string" ? { size: Number(size), modifiedAt: Number(at) } : undefined;
  }

  async exists(key: string): Promise<boolean> {
    return await this.#connection.send("EXISTS", this.#record(key)) === 1;
  }

  /** Takes a lock: it holds among all who share the Redis and the prefix. */
  acquire(key: string, options: LockOptions): Promise<Lock> {
    return acquireLock({ connector: redisId, clock: this.#clock, key, options }, async ({ owner }) => {
      const ttlMs = Math.max(1, Math.ceil(options.ttlMs));
      return await this.#connection.run(acquireScript, [this.#lock(key)], [owner, ttlMs]) === 1;
    });
  }

  async release({ key, owner }: Lock): Promise<void> {
    await this.#connection.run(releaseScript, [this.#lock(key)], [owner]);
  }

  async isLocked(key: string): Promise<boolean> {
    return await this.#connection.send("EXISTS", this.#lock(key)) === 1;
  }

  async close(): Promise<void> {
    await this.shared.end().catch(() => {}); // where Redis is away, the leases end by themselves
    await this.#connection.close();
  }

  get #keys(): string {
    return `${this.#prefix}:keys`;
  }

  #record(key: string): string {
    return `${this.#prefix}:record:${key}`;
  }

  #lock(key: string): string {
    return `${this.#prefix}:lock:${key}`;
  }
}

/** Storage in a Redis; settings: `url`, or `host`, `port`, `username`, `password`, `db`; and `prefix`. */
export const redis: Connector<"storage"> = {
  ...redisDeclaration,
  create(given, { clock }) {
    const settings = withCredentials(given, ["username", "password"]);
    const prefix = prefixOf(settings);
    return new RedisStorage(clock, {
      address: redisAddress(settings),
      ...(prefix === undefined ? {} : { prefix: prefix as string }),
    });
  },
  loadPackages: () => loadRedisClient(),
};

/** Pieces that fit into one call. */
const pieceLength = 0x8000;

/** A character for each byte: JSON stays readable with Redis's own tools. */
function textOf(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += pieceLength) {
    text += String.fromCharCode(...data.subarray(at, at + pieceLength));
  }
  return text;
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
