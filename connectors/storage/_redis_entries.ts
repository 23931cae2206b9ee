/**
 * Entries in Redis that expire: one key each, which Redis deletes by its own clock.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { EntryStats, ExpiringEntries } from "../../src/contracts/storage.ts";
import { fromBinaryText, toBinaryText } from "./_redis_binary.ts";
import type { RedisConnection } from "./_redis_client.ts";

/** Time after which counting stops, ms: the database may have millions of keys of others. */
const countMs = 2000;

/** Maximum time to live, ms. */
const maxTtlMs = 10 * 365 * 86_400_000;

const setScript = `
redis.call('HSET', KEYS[1], 'data', ARGV[1], 'size', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])`;

/** Visits some of the keys: a part of each call of \`SCAN\`, none of which blocks the server for long. */
const pageScript = (visit: string) => `
local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
local entries, bytes = 0, 0
for _, key in ipairs(page[2]) do
  ${visit}
end
return { page[1], entries, bytes }`;

const countScript = pageScript(`
  local size = redis.call('HGET', key, 'size')
  if size then entries, bytes = entries + 1, bytes + tonumber(size) end`);

const clearScript = pageScript("entries = entries + redis.call('UNLINK', key)");

/** Entries that one server has. */
interface EntryGroup {
  /** Prefix of all keys. */
  readonly prefix: string;
  readonly master: RedisConnection;
}

/** The entries of a `RedisStorage`. */
export class RedisEntries implements ExpiringEntries {
  readonly #clock: Clock;
  readonly #groups: readonly EntryGroup[];
  readonly #find: (key: string) => EntryGroup;

  /**
   * @param clock Wall clock, for expiry.
   * @param groups All servers.
   * @param find Finds the server of a key.
   */
  constructor(clock: Clock, groups: readonly EntryGroup[], find: (key: string) => EntryGroup) {
    this.#clock = clock;
    this.#groups = groups;
    this.#find = find;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const { prefix, master } = this.#find(key);
    const text = await master.send("HGET", toName(prefix, key), "data");
    return typeof text === "string" ? fromBinaryText(text) : undefined;
  }

  async set(key: string, data: Uint8Array, expiresAt: number): Promise<void> {
    const ttlMs = Math.min(Math.ceil(expiresAt - this.#clock.now()), maxTtlMs); // relative, since Redis has its own clock
    if (!(ttlMs > 0)) return void await this.delete(key);
    const { prefix, master } = this.#find(key);
    await master.run(setScript, [toName(prefix, key)], [toBinaryText(data), data.length, ttlMs]);
  }

  async delete(key: string): Promise<boolean> {
    const { prefix, master } = this.#find(key);
    return await master.send("UNLINK", toName(prefix, key)) === 1;
  }

  /** Counts the entries; in a database that takes longer than two seconds to go through, those found until then. */
  stats(): Promise<EntryStats> {
    return this.#visit(countScript, countMs);
  }

  async clear(): Promise<number> {
    return (await this.#visit(clearScript, Infinity)).entries;
  }

  async #visit(script: string, ms: number): Promise<EntryStats> {
    const endsAt = this.#clock.monotonic() + ms;
    const counts = await Promise.all(this.#groups.map(async ({ prefix, master }) => {
      let [cursor, entries, bytes] = ["0", 0, 0];
      do {
        const values = [cursor, toName(prefix, "*")];
        const [next, found, size] = await master.run(script, [toName(prefix, "")], values) as [string, number, number];
        [cursor, entries, bytes] = [String(next), entries + found, bytes + size];
      } while (cursor !== "0" && this.#clock.monotonic() < endsAt);
      return { entries, bytes };
    }));
    return counts.reduce((sum, { entries, bytes }) => ({ entries: sum.entries + entries, bytes: sum.bytes + bytes }));
  }
}

function toName(prefix: string, key: string): string {
  return `${prefix}:cache:/${key}`; // no prefix of another mesh has a slash
}
