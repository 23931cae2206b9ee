/**
 * Records, locks and shared counters in Redis 6.2 or later, or a compatible server.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { getPrefix, withCredentials } from "./_attributes.ts";
import { acquireLock } from "./_lock.ts";
import { checkPrefix, type RedisAddress, redisAddress } from "./_redis_address.ts";
import { loadRedisClient, RedisConnection } from "./_redis_client.ts";
import { redisId } from "./_redis_errors.ts";
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
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** Options of a {@linkcode RedisStorage}. */
export interface RedisStorageOptions {
  /** Address of the server. */
  readonly address: RedisAddress;
  /** Prefix of all keys. Processes with the same server and prefix share all state. @default {"modelmesh"} */
  readonly prefix?: string;
  /**
   * Lease duration, ms: a process without a call for this long counts as ended, and its leases are released. @default
   * {15_000}
   */
  readonly leaseMs?: number;
  /** Imports a replacement of `@redis/client`. */
  readonly importClient?: () => Promise<unknown>;
}

/** A storage in Redis. Locks expire by Redis's clock, whatever happens to their owners. */
export class RedisStorage implements Storage {
  /** Counters and messages shared by all processes with the same server and prefix. */
  readonly shared: RedisShared;
  readonly #clock: Clock;
  readonly #connection: RedisConnection;
  readonly #prefix: string;

  /**
   * Creates a storage; connects on first use.
   *
   * @param clock Clock, for the times of records.
   * @param options Address and prefix.
   * @throws {ConfigError} If the prefix is invalid.
   */
  constructor(clock: Clock, options: RedisStorageOptions) {
    const { address, prefix = redisDeclaration.attributes.prefix.default, leaseMs, importClient } = options;
    checkPrefix(prefix);
    this.#clock = clock;
    this.#prefix = prefix;
    this.#connection = new RedisConnection(address, clock, importClient);
    this.shared = new RedisShared(this.#connection, clock, { prefix, leaseTimeMs: leaseMs });
  }

  async load(key: string): Promise<Uint8Array | undefined> {
    const text = await this.#connection.send("HGET", this.#record(key), "data");
    return typeof text === "string" ? fromBinaryText(text) : undefined;
  }

  async save(key: string, data: Uint8Array): Promise<void> {
    const values = [toBinaryText(data), data.length, this.#clock.now(), key];
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

  /** Acquires a lock, shared by all processes with the same server and prefix. */
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
    await this.shared.end().catch(() => {}); // if Redis is unavailable, the leases expire by themselves
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

/** Storage in Redis. Settings: `url`, or `host`, `port`, `username`, `password`, `db`; and `prefix`. */
export const redis: Connector<"storage"> = {
  ...redisDeclaration,
  create(attributes, { clock }) {
    const settings = withCredentials(attributes, ["username", "password"]);
    const prefix = getPrefix(settings);
    return new RedisStorage(clock, {
      address: redisAddress(settings),
      ...(prefix === undefined ? {} : { prefix: prefix as string }),
    });
  },
  loadPackages: () => loadRedisClient(),
};

/** Maximum number of arguments of one call. */
const maxArguments = 0x8000;

/** Encodes each byte as one character, so that JSON stays readable in Redis's own tools. */
function toBinaryText(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += maxArguments) {
    text += String.fromCharCode(...data.subarray(at, at + maxArguments));
  }
  return text;
}

function fromBinaryText(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
