/**
 * Records, locks, shared counters, usage and entries that expire in PostgreSQL 13 or later.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { getPrefix, withCredentials } from "./_attributes.ts";
import { acquireLock } from "./_lock.ts";
import { type PostgresPlan, readPostgresPlan } from "./_postgres_address.ts";
import { PostgresConnection, type PostgresConnectionOptions, type PostgresRuntime } from "./_postgres_client.ts";
import { PostgresEntries } from "./_postgres_entries.ts";
import { postgresId } from "./_postgres_errors.ts";
import { loadPostgresClient } from "./_postgres_link.ts";
import { nowMs } from "./_postgres_names.ts";
import { PostgresShared } from "./_postgres_shared.ts";
import { readPostgresText, toPostgresText } from "./_postgres_text.ts";
import { PostgresUsage } from "./_postgres_usage.ts";
import { postgresDeclaration } from "./declarations.ts";

/** Sorts after every other character. */
const lastCharacter = "\u{10FFFF}";

/** Options of a {@linkcode PostgresStorage}. */
export interface PostgresStorageOptions extends PostgresConnectionOptions {
  readonly plan: PostgresPlan;
  /**
   * Lease duration, ms: a process without a call for this long counts as ended, and its leases are released. @default
   * {15_000}
   */
  readonly leaseMs?: number;
}

/** A storage in PostgreSQL. Locks expire by its clock, whatever happens to their owners. */
export class PostgresStorage implements Storage {
  /** Counters and messages shared by all processes with the same database, schema and prefix. */
  readonly shared: PostgresShared;
  /** Usage of all these processes. */
  readonly usage: PostgresUsage;
  /** Entries that expire, of all these processes. */
  readonly entries: PostgresEntries;
  readonly #clock: PostgresRuntime["clock"];
  readonly #connection: PostgresConnection;

  /**
   * Creates a storage; connects on first use.
   *
   * @param runtime Clock, for the times of records, and connections.
   * @param options Addresses, and names of tables.
   */
  constructor(runtime: PostgresRuntime, options: PostgresStorageOptions) {
    this.#clock = runtime.clock;
    this.#connection = new PostgresConnection(runtime, options);
    this.shared = new PostgresShared(this.#connection, runtime.clock, options.leaseMs);
    this.usage = new PostgresUsage(this.#connection);
    this.entries = new PostgresEntries(this.#connection, runtime.clock);
  }

  async load(key: string): Promise<Uint8Array | undefined> {
    const [row] = await this.#ask(key, `SELECT data FROM ${this.#records} WHERE key = $1`);
    return row === undefined ? undefined : new Uint8Array(row.data as Uint8Array);
  }

  async save(key: string, data: Uint8Array): Promise<void> {
    const text = `INSERT INTO ${this.#records} (key, data, modified_at) VALUES ($1, $2, $3)
      ON CONFLICT (key) DO UPDATE SET data = excluded.data, modified_at = excluded.modified_at`;
    await this.#ask(key, text, data.slice(), Math.trunc(this.#clock.now()));
  }

  async list(prefix = ""): Promise<readonly string[]> {
    const text = `SELECT key FROM ${this.#records} WHERE key >= $1 AND key < $2`;
    const from = toPostgresText(prefix);
    const rows = await this.#connection.query("", text, [from, from + lastCharacter]);
    return rows.map(({ key }) => readPostgresText(String(key))).sort();
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#ask(key, `DELETE FROM ${this.#records} WHERE key = $1 RETURNING true AS found`)).length > 0;
  }

  async stat(key: string): Promise<StorageStat | undefined> {
    const text = `SELECT length(data) AS size, modified_at FROM ${this.#records} WHERE key = $1`;
    const [row] = await this.#ask(key, text);
    return row && { size: Number(row.size), modifiedAt: Number(row.modified_at) };
  }

  async exists(key: string): Promise<boolean> {
    return (await this.#ask(key, `SELECT true AS found FROM ${this.#records} WHERE key = $1`)).length > 0;
  }

  /** Acquires a lock, shared by all processes with the same database, schema and prefix. */
  acquire(key: string, options: LockOptions): Promise<Lock> {
    const ttlMs = Math.max(1, Math.ceil(options.ttlMs));
    const text = `INSERT INTO ${this.#locks} AS l (key, owner, expires_at) VALUES ($1, $2, ${nowMs} + $3::bigint)
      ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
      WHERE l.owner = excluded.owner OR l.expires_at <= ${nowMs} RETURNING true AS acquired`;
    return acquireLock({ connector: postgresId, clock: this.#clock, key, options }, async ({ owner }) => {
      return (await this.#ask(key, text, toPostgresText(owner), ttlMs)).length > 0;
    });
  }

  async release({ key, owner }: Lock): Promise<void> {
    await this.#ask(key, `DELETE FROM ${this.#locks} WHERE key = $1 AND owner = $2`, toPostgresText(owner));
  }

  async isLocked(key: string): Promise<boolean> {
    const text = `SELECT true AS found FROM ${this.#locks} WHERE key = $1 AND expires_at > ${nowMs}`;
    return (await this.#ask(key, text)).length > 0;
  }

  async close(): Promise<void> {
    await this.shared.end().catch(() => {}); // if PostgreSQL is unavailable, the leases expire by themselves
    await this.#connection.close();
  }

  /** Executes a statement about a key, whose first value it is. Those about one key are executed in order. */
  #ask(key: string, text: string, ...values: readonly unknown[]): ReturnType<PostgresConnection["query"]> {
    return this.#connection.query(`key ${key}`, text, [toPostgresText(key), ...values]);
  }

  get #records(): string {
    return this.#connection.names("records");
  }

  get #locks(): string {
    return this.#connection.names("locks");
  }
}

/** Storage in PostgreSQL. Settings: `url`, or its parts; `schema`, `prefix`; `listen_url`, `pool_size`, and others. */
export const postgres: Connector<"storage"> = {
  ...postgresDeclaration,
  create(attributes, runtime) {
    const settings = withCredentials(attributes, ["username", "password"]);
    return new PostgresStorage(runtime, { plan: readPostgresPlan({ ...settings, prefix: getPrefix(settings) }) });
  },
  loadPackages: () => loadPostgresClient(),
};
