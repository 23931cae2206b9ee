/**
 * Entries in PostgreSQL that expire by its clock.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { EntryStats, ExpiringEntries } from "../../src/contracts/storage.ts";
import type { PostgresConnection } from "./_postgres_client.ts";
import { nowMs } from "./_postgres_names.ts";
import { toPostgresText } from "./_postgres_text.ts";

/** Maximum number of rows that one statement deletes. */
const batchRows = 1000;

/** Interval in which a process that writes deletes what has expired, ms. */
const sweepMs = 60_000;

/** Maximum time to live, ms. */
const maxTtlMs = 10 * 365 * 86_400_000;

/** The entries of a `PostgresStorage`. */
export class PostgresEntries implements ExpiringEntries {
  readonly #connection: PostgresConnection;
  readonly #clock: Clock;
  #sweptAt = -Infinity;

  /**
   * @param connection The connection of the storage.
   * @param clock Wall clock, for expiry.
   */
  constructor(connection: PostgresConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const [row] = await this.#ask(key, `SELECT data FROM ${this.#table} WHERE key = $1 AND expires_at > ${nowMs}`);
    return row === undefined ? undefined : new Uint8Array(row.data as Uint8Array);
  }

  async set(key: string, data: Uint8Array, expiresAt: number): Promise<void> {
    const ttlMs = Math.min(Math.ceil(expiresAt - this.#clock.now()), maxTtlMs); // relative, since PostgreSQL has its own clock
    if (!(ttlMs > 0)) return void await this.delete(key);
    const text = `INSERT INTO ${this.#table} (key, data, expires_at) VALUES ($1, $2, ${nowMs} + $3::bigint)
      ON CONFLICT (key) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at`;
    await this.#ask(key, text, data.slice(), ttlMs);
    const now = this.#clock.monotonic();
    if (now - this.#sweptAt < sweepMs) return;
    this.#sweptAt = now;
    await this.#remove(`WHERE expires_at <= ${nowMs}`);
  }

  async delete(key: string): Promise<boolean> {
    const text = `DELETE FROM ${this.#table} WHERE key = $1 RETURNING expires_at > ${nowMs} AS found`;
    const [row] = await this.#ask(key, text);
    return row?.found === true;
  }

  async stats(): Promise<EntryStats> {
    const text = `SELECT count(*)::text AS entries, coalesce(sum(length(data)), 0)::text AS bytes FROM ${this.#table}
      WHERE expires_at > ${nowMs}`;
    const [row] = await this.#connection.query("", text);
    return { entries: Number(row?.entries), bytes: Number(row?.bytes) };
  }

  clear(): Promise<number> {
    return this.#remove("");
  }

  /**
   * Deletes rows in batches, so that none are locked for long; those that others write meanwhile are left out.
   *
   * @returns How many of them had not expired.
   */
  async #remove(condition: string): Promise<number> {
    const rows = `SELECT key FROM ${this.#table} ${condition} LIMIT ${batchRows} FOR UPDATE SKIP LOCKED`;
    const text = `WITH gone AS (
        DELETE FROM ${this.#table} WHERE key = ANY(ARRAY(${rows})) RETURNING expires_at > ${nowMs} AS is_live
      ) SELECT count(*)::int AS rows, (count(*) FILTER (WHERE is_live))::int AS live FROM gone`;
    let live = 0;
    for (;;) {
      const [row] = await this.#connection.query("entries", text);
      live += Number(row?.live);
      if (!(Number(row?.rows) >= batchRows)) return live;
    }
  }

  #ask(key: string, text: string, ...values: readonly unknown[]): ReturnType<PostgresConnection["query"]> {
    return this.#connection.query(`entry ${key}`, text, [toPostgresText(key), ...values]);
  }

  get #table(): string {
    return this.#connection.names("entries");
  }
}
