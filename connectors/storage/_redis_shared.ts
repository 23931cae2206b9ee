/**
 * Sums and messages in a Redis: every call is one script or one command, so that nothing comes in between.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Shared, SharedChange, SharedGrant, SharedReservation, SharedSum } from "../../src/contracts/storage.ts";
import type { RedisConnection } from "./_redis_client.ts";

/**
 * What both scripts begin with: sums as they are, but no less than they are known to have been. Values come in groups
 * of four: an amount, a limit, the least sum or nothing, the time until it is forgotten in ms.
 */
const read = `
local sums, written = {}, {}
for i, key in ipairs(KEYS) do
  written[i] = tonumber(redis.call('GET', key) or '0')
  sums[i] = math.max(written[i], tonumber(ARGV[i * 4 - 1]) or written[i])
end
local function write(i, sum)
  if sum ~= written[i] then redis.call('SET', KEYS[i], string.format('%.0f', sum), 'PX', ARGV[i * 4]) end
  sums[i] = sum
end
local function reply(first)
  local answer = { first }
  for i, sum in ipairs(sums) do answer[i + 1] = string.format('%.0f', sum) end
  return answer
end
`;

const addScript = `${read}
for i in ipairs(KEYS) do write(i, sums[i] + tonumber(ARGV[i * 4 - 3])) end
return reply('1')`;

const reserveScript = `${read}
for i in ipairs(KEYS) do
  if sums[i] + tonumber(ARGV[i * 4 - 3]) > tonumber(ARGV[i * 4 - 2]) then return reply('0') end
end
for i in ipairs(KEYS) do write(i, sums[i] + tonumber(ARGV[i * 4 - 3])) end
return reply('1')`;

/** The facet of a {@linkcode RedisStorage}. */
export class RedisShared implements Shared {
  readonly #connection: RedisConnection;
  readonly #clock: Clock;
  readonly #prefix: string;

  /**
   * @param connection The storage's.
   * @param clock For how long sums are kept.
   * @param prefix What all names begin with.
   */
  constructor(connection: RedisConnection, clock: Clock, prefix: string) {
    this.#connection = connection;
    this.#clock = clock;
    this.#prefix = prefix;
  }

  async add(changes: readonly SharedChange[]): Promise<readonly number[]> {
    if (changes.length === 0) return [];
    return (await this.#run(addScript, changes, ({ by }) => [by, 0])).sums;
  }

  /** Adds to sums where none of them passes its limit by that. */
  async reserve(claims: readonly SharedReservation[]): Promise<SharedGrant> {
    if (claims.length === 0) return { isGranted: true, sums: [] };
    return await this.#run(reserveScript, claims, ({ amount, limit }) => [amount, limit]);
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
    amountAndLimit: (sum: T) => readonly [number, number],
  ): Promise<SharedGrant> {
    const now = this.#clock.now();
    const keys = sums.map(({ key }) => `${this.#prefix}:sum:${key}`);
    const values = sums.flatMap((sum) => [
      ...amountAndLimit(sum),
      sum.atLeast ?? "",
      Math.max(1, Math.ceil(sum.expiresAt - now)), // not the time itself: Redis has a clock of its own
    ]);
    const [isGranted, ...present] = await this.#connection.run(script, keys, values) as string[];
    return { isGranted: isGranted === "1", sums: present.map(Number) };
  }

  #channel(name: string): string {
    return `${this.#prefix}:channel:${name}`;
  }
}
