/**
 * Records, locks, shared counters and entries that expire in Redis 6.2 or later, or a compatible server.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Clock, Runtime } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { getPrefix, withCredentials } from "./_attributes.ts";
import { acquireLock } from "./_lock.ts";
import { checkPrefix, type RedisAddress, redisAddress } from "./_redis_address.ts";
import { fromBinaryText, toBinaryText } from "./_redis_binary.ts";
import { RedisConnection } from "./_redis_client.ts";
import { RedisEntries } from "./_redis_entries.ts";
import { redisId } from "./_redis_errors.ts";
import { loadRedisClient } from "./_redis_package.ts";
import { RedisServers } from "./_redis_servers.ts";
import { RedisShared } from "./_redis_shared.ts";
import { findSlot } from "./_redis_slots.ts";
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
  /** Reads the files that `tls` names. */
  readonly readText?: ((path: string) => Promise<string>) | undefined;
  /** Requires the permission to connect to a server. */
  readonly requireConnection?: Runtime["requireConnection"] | undefined;
  /** Selects replicas: returns a number in [0, 1). @default the first one is selected */
  readonly random?: () => number;
}

/** Number of groups of records in a cluster, each of which one node has. */
const clusterGroups = 8;

/** How long a record that this process has written is read from the master, ms. */
const settlingMs = 10_000;

/** Records and locks that one server has. */
interface Group {
  readonly prefix: string;
  readonly master: RedisConnection;
  /** Where records are read, if they are read from replicas. */
  readonly replica: RedisConnection | undefined;
}

/** A storage in Redis. Locks expire by Redis's clock, whatever happens to their owners. */
export class RedisStorage implements Storage {
  /** Counters and messages shared by all processes with the same server and prefix. */
  readonly shared: RedisShared;
  /** Entries that expire, of all these processes. */
  readonly entries: RedisEntries;
  readonly #clock: Clock;
  readonly #connection: RedisConnection;
  readonly #groups: readonly Group[];
  /** Times of recent writes by this process, monotonic ms, the latest last. */
  readonly #writtenAt = new Map<string, number>();
  readonly #locked = new Set<string>();

  /**
   * Creates a storage; connects on first use.
   *
   * @param clock Clock, for the times of records.
   * @param options Address and prefix.
   * @throws {ConfigError} If the prefix is invalid.
   */
  constructor(clock: Clock, options: RedisStorageOptions) {
    const { address, prefix = redisDeclaration.attributes.prefix.default, leaseMs, ...others } = options;
    checkPrefix(prefix);
    this.#clock = clock;
    const servers = new RedisServers(address, { clock, ...others });
    const sharedPrefix = servers.isCluster ? `{${prefix}}` : prefix;
    const connect = (key: string, isReplica = false) =>
      new RedisConnection(address, clock, { servers, key, isReplica });
    this.#connection = connect(sharedPrefix);
    const toGroup = (prefix: string, master: RedisConnection): Group => ({
      prefix,
      master,
      replica: servers.readsReplicas ? connect(prefix, true) : undefined,
    });
    this.#groups = servers.isCluster
      ? Array.from({ length: clusterGroups }, (_, index) => `{${prefix}:${index}}`)
        .map((prefix) => toGroup(prefix, connect(prefix)))
      : [toGroup(prefix, this.#connection)];
    this.shared = new RedisShared(this.#connection, clock, { prefix: sharedPrefix, leaseTimeMs: leaseMs });
    this.entries = new RedisEntries(clock, this.#groups, (key) => this.#find(key));
  }

  async load(key: string): Promise<Uint8Array | undefined> {
    const text = await this.#read(key, (record) => ["HGET", record, "data"], (reply) => typeof reply === "string");
    return typeof text === "string" ? fromBinaryText(text) : undefined;
  }

  async save(key: string, data: Uint8Array): Promise<void> {
    const { prefix, master, replica } = this.#find(key);
    if (replica !== undefined) this.#remember(key);
    const values = [toBinaryText(data), data.length, this.#clock.now(), key];
    await master.run(saveScript, [`${prefix}:record:${key}`, `${prefix}:keys`], values);
  }

  async list(prefix = ""): Promise<readonly string[]> {
    const lists = await Promise.all(
      this.#groups.map(({ master, prefix }) => master.send("SMEMBERS", `${prefix}:keys`)),
    );
    return (lists as Iterable<string>[]).flatMap((keys) => [...keys]).filter((key) => key.startsWith(prefix)).sort();
  }

  async delete(key: string): Promise<boolean> {
    const { prefix, master, replica } = this.#find(key);
    if (replica !== undefined) this.#remember(key);
    return await master.run(deleteScript, [`${prefix}:record:${key}`, `${prefix}:keys`], [key]) === 1;
  }

  async stat(key: string): Promise<StorageStat | undefined> {
    const isFound = (reply: unknown) => typeof (reply as (string | null)[])[0] === "string";
    const reply = await this.#read(key, (record) => ["HMGET", record, "size", "at"], isFound);
    const [size, at] = reply as (string | null)[];
    return typeof size === "string" ? { size: Number(size), modifiedAt: Number(at) } : undefined;
  }

  async exists(key: string): Promise<boolean> {
    return await this.#read(key, (record) => ["EXISTS", record], (reply) => reply === 1) === 1;
  }

  /** Acquires a lock, shared by all processes with the same server and prefix. */
  async acquire(key: string, options: LockOptions): Promise<Lock> {
    const { prefix, master } = this.#find(key);
    const lock = await acquireLock({ connector: redisId, clock: this.#clock, key, options }, async ({ owner }) => {
      const ttlMs = Math.max(1, Math.ceil(options.ttlMs));
      return await master.run(acquireScript, [`${prefix}:lock:${key}`], [owner, ttlMs]) === 1;
    });
    this.#locked.add(key);
    return lock;
  }

  async release({ key, owner }: Lock): Promise<void> {
    this.#locked.delete(key);
    const { prefix, master } = this.#find(key);
    await master.run(releaseScript, [`${prefix}:lock:${key}`], [owner]);
  }

  async isLocked(key: string): Promise<boolean> {
    const { prefix, master } = this.#find(key);
    return await master.send("EXISTS", `${prefix}:lock:${key}`) === 1;
  }

  async close(): Promise<void> {
    await this.shared.end().catch(() => {}); // if Redis is unavailable, the leases expire by themselves
    const connections = this.#groups.flatMap(({ master, replica }) => [master, replica ?? master]);
    await Promise.all([this.#connection, ...connections].map((connection) => connection.close()));
  }

  /** Reads a record: from a replica, unless it may lack it or what is read will be written again. */
  async #read(
    key: string,
    toWords: (record: string) => readonly string[],
    isFound: (reply: unknown) => boolean,
  ): Promise<unknown> {
    const { prefix, master, replica } = this.#find(key);
    const words = toWords(`${prefix}:record:${key}`);
    if (replica !== undefined && this.#locked.size === 0 && !this.#isSettling(key)) {
      const reply = await replica.send(...words).catch(() => undefined);
      if (reply !== undefined && isFound(reply)) return reply;
    }
    return await master.send(...words);
  }

  #remember(key: string): void {
    const now = this.#clock.monotonic();
    this.#writtenAt.delete(key);
    this.#writtenAt.set(key, now);
    for (const [key, at] of this.#writtenAt) {
      if (now - at < settlingMs) break;
      this.#writtenAt.delete(key);
    }
  }

  #isSettling(key: string): boolean {
    return this.#clock.monotonic() - (this.#writtenAt.get(key) ?? -Infinity) < settlingMs;
  }

  #find(key: string): Group {
    return this.#groups[this.#groups.length === 1 ? 0 : findSlot(key) % this.#groups.length]!;
  }
}

/** Storage in Redis. Settings: those of {@linkcode redisAddress}, and `prefix`. */
export const redis: Connector<"storage"> = {
  ...redisDeclaration,
  create(attributes, { clock, files, random, requireConnection }) {
    const settings = withCredentials(attributes, ["username", "password"]);
    const prefix = getPrefix(settings);
    return new RedisStorage(clock, {
      address: redisAddress(settings),
      random,
      requireConnection,
      readText: files && ((path) => files.readText(path)),
      ...(prefix === undefined ? {} : { prefix: prefix as string }),
    });
  },
  loadPackages: () => loadRedisClient(),
};
