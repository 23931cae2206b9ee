/**
 * Shared counters and messages in Redis. Every call is one script or one command, and so atomic.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Shared, SharedChange, SharedGrant, SharedReservation, SharedSum } from "../../src/contracts/storage.ts";
import { leaseMs } from "./_redis_address.ts";
import type { RedisConnection } from "./_redis_client.ts";

/** Retention of an ended process's leases, ms: a process that was only suspended regains them. */
const endedMs = 86_400_000;

/**
 * Lease bookkeeping: a sorted set of processes by lease expiry, and for each process a hash of its leases by counter.
 * Arguments: the key of the set, the process id, `leaseMs`, `endedMs`.
 */
const leases = `
local set, id = ARGV[1], ARGV[2]
local held = set .. ':' .. id
local function change(process, sign)
  local fields = redis.call('HGETALL', process)
  for i = 1, #fields, 2 do
    if redis.call('EXISTS', fields[i]) == 1 then
      redis.call('INCRBY', fields[i], string.format('%.0f', 0 + sign * tonumber(fields[i + 1])))
    end
  end
end
local function finish(process)
  local its = set .. ':' .. process
  change(its, -1)
  redis.call('ZREM', set, process)
  if redis.call('EXISTS', its) == 1 then
    redis.call('RENAME', its, its .. ':ended')
    redis.call('PEXPIRE', its .. ':ended', ARGV[4])
  end
end
`;

/**
 * Renews the lease of this process, and ends processes whose lease has expired. `lost` is 1 if the lease of this process
 * was ended, or is not known.
 */
const renew = `${leases}
local lost = redis.call('ZSCORE', set, id) and '0' or '1'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('EXISTS', held .. ':ended') == 1 then
  redis.call('RENAME', held .. ':ended', held)
  redis.call('PERSIST', held)
  change(held, 1)
end
redis.call('ZADD', set, now + ARGV[3], id)
for _, process in ipairs(redis.call('ZRANGEBYSCORE', set, '-inf', now)) do finish(process) end
`;

const endScript = `${leases}
finish(id)
redis.call('DEL', held .. ':ended')`;

/**
 * Common start of both scripts: reads the counters, raised to their known minimum. Further arguments come in groups of
 * five: amount, limit, minimum or empty, time to live in ms, leased amount.
 */
const read = `${renew}
local function value(i, at) return ARGV[4 + (i - 1) * 5 + at] end
local sums, written = {}, {}
for i, key in ipairs(KEYS) do
  written[i] = tonumber(redis.call('GET', key) or '0')
  sums[i] = math.max(written[i], tonumber(value(i, 3)) or written[i])
end
local function write(i, sum)
  if sum ~= written[i] then redis.call('SET', KEYS[i], string.format('%.0f', sum), 'PX', value(i, 4)) end
  sums[i] = sum
  local leased = value(i, 5)
  if leased == '0' then return end
  if redis.call('HINCRBY', held, KEYS[i], leased) > 0 then return end
  redis.call('HDEL', held, KEYS[i])
end
local function reply(first)
  local answer = { first, lost }
  for i, sum in ipairs(sums) do answer[i + 2] = string.format('%.0f', sum) end
  return answer
end
`;

const addScript = `${read}
for i in ipairs(KEYS) do write(i, sums[i] + tonumber(value(i, 1))) end
return reply('1')`;

const reserveScript = `${read}
for i in ipairs(KEYS) do
  if sums[i] + tonumber(value(i, 1)) > tonumber(value(i, 2)) then return reply('0') end
end
for i in ipairs(KEYS) do write(i, sums[i] + tonumber(value(i, 1))) end
return reply('1')`;

/** The shared facet of a `RedisStorage`. */
export class RedisShared implements Shared {
  /** Identifies the leases of this process. */
  readonly #id = crypto.randomUUID();
  readonly leaseMs: number;
  #isKnown = false;
  #lostLeases = 0;
  readonly #connection: RedisConnection;
  readonly #clock: Clock;
  readonly #prefix: string;

  /**
   * @param connection The connection of the storage.
   * @param clock Wall clock, for the expiry of counters.
   */
  constructor(connection: RedisConnection, clock: Clock, { prefix, leaseTimeMs = leaseMs }: {
    /** Prefix of all keys. */
    readonly prefix: string;
    /** Lease duration, ms. */
    readonly leaseTimeMs?: number;
  }) {
    this.leaseMs = leaseTimeMs;
    this.#connection = connection;
    this.#clock = clock;
    this.#prefix = prefix;
  }

  /** How often other processes have ended the lease of this process, as far as it knows. */
  get lostLeases(): number {
    return this.#lostLeases;
  }

  async add(changes: readonly SharedChange[]): Promise<readonly number[]> {
    if (changes.length === 0) return [];
    return (await this.#run(addScript, changes, ({ by, leased = 0 }) => [by, 0, leased])).sums;
  }

  /** Reserves all amounts if no counter exceeds its limit by that. */
  async reserve(reservations: readonly SharedReservation[]): Promise<SharedGrant> {
    if (reservations.length === 0) return { isGranted: true, sums: [] };
    return await this.#run(reserveScript, reservations, ({ amount, limit, isLeased = false }) => [
      amount,
      limit,
      isLeased ? amount : 0,
    ]);
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#connection.send("PUBLISH", this.#channel(channel), message);
  }

  subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>> {
    return this.#connection.subscribe(this.#channel(channel), (message) => receive(message));
  }

  async #run<T extends SharedSum>(
    script: string,
    sums: readonly T[],
    valuesOf: (sum: T) => readonly [amount: number, limit: number, leased: number],
  ): Promise<SharedGrant> {
    const now = this.#clock.now();
    const keys = sums.map(({ key }) => `${this.#prefix}:sum:${key}`);
    const values = sums.flatMap((sum) => {
      const [amount, limit, leased] = valuesOf(sum);
      const ttlMs = Math.max(1, Math.ceil(sum.expiresAt - now)); // relative, since Redis has its own clock
      return [amount, limit, sum.atLeast ?? "", ttlMs, leased];
    });
    const isFirst = !this.#isKnown;
    this.#isKnown = true;
    const reply = await this.#connection.run(script, keys, [...this.#lease, ...values]) as string[];
    const [isGranted, isLost, ...present] = reply;
    if (isLost === "1" && !isFirst) this.#lostLeases++;
    return { isGranted: isGranted === "1", sums: present.map(Number) };
  }

  /** Ends the leases of this process. */
  async end(): Promise<void> {
    if (this.#isKnown) await this.#connection.run(endScript, [], this.#lease);
  }

  get #lease(): readonly (string | number)[] {
    return [`${this.#prefix}:leases`, this.#id, this.leaseMs, endedMs];
  }

  #channel(name: string): string {
    return `${this.#prefix}:channel:${name}`;
  }
}
