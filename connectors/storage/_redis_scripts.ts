/**
 * Scripts of the shared counters in Redis. Each call is one of them, and so atomic.
 * @module
 */
import { rememberedCalls } from "./_redis_recent.ts";

/** Retention of an ended process's leases, ms: a process that was only suspended regains them. */
export const endedMs = 86_400_000;

/**
 * Lease bookkeeping: a sorted set of processes by lease expiry, and for each process a hash of its leases by counter, and
 * one of the numbers of its last calls. Arguments: the key of the set, the process id, `leaseMs`, `endedMs`, and the number
 * of the call.
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
  redis.call('PEXPIRE', its .. ':calls', ARGV[4])
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
const renew = `
local lost = redis.call('ZSCORE', set, id) and '0' or '1'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('EXISTS', held .. ':ended') == 1 then
  redis.call('RENAME', held .. ':ended', held)
  redis.call('PERSIST', held)
  redis.call('PERSIST', held .. ':calls')
  change(held, 1)
end
redis.call('ZADD', set, now + ARGV[3], id)
for _, process in ipairs(redis.call('ZRANGEBYSCORE', set, '-inf', now)) do finish(process) end
`;

/** Ends the leases of this process. */
export const endScript: string = `${leases}
finish(id)
redis.call('DEL', held .. ':ended', held .. ':calls')`;

/**
 * Common start of both scripts: reads the counters, raised to their known minimum. Further arguments come in groups of
 * five: amount, limit, minimum or empty, time to live in ms, leased amount.
 */
const read = `${leases}${renew}
local function value(i, at) return ARGV[5 + (i - 1) * 5 + at] end
local sums, written, changes = {}, {}, false
for i, key in ipairs(KEYS) do
  written[i] = tonumber(redis.call('GET', key) or '0')
  sums[i] = math.max(written[i], tonumber(value(i, 3)) or written[i])
end
local function write(i, sum)
  local leased = value(i, 5)
  if sum ~= written[i] then redis.call('SET', KEYS[i], string.format('%.0f', sum), 'PX', value(i, 4)) end
  sums[i] = sum
  changes = changes or value(i, 1) ~= '0' or leased ~= '0'
  if leased == '0' then return end
  if redis.call('HINCRBY', held, KEYS[i], leased) > 0 then return end
  redis.call('HDEL', held, KEYS[i])
end
local function reply(first)
  if changes then redis.call('HSET', held .. ':calls', ARGV[5] % ${rememberedCalls}, ARGV[5]) end
  local answer = { first, lost }
  for i, sum in ipairs(sums) do answer[i + 2] = string.format('%.0f', sum) end
  return answer
end
`;

/** Adds to counters. */
export const addScript: string = `${read}
for i in ipairs(KEYS) do write(i, sums[i] + tonumber(value(i, 1))) end
return reply('1')`;

/** Adds to counters, if none exceeds its limit by that. */
export const reserveScript: string = `${read}
for i in ipairs(KEYS) do
  if sums[i] + tonumber(value(i, 1)) > tonumber(value(i, 2)) then return reply('0') end
end
for i in ipairs(KEYS) do write(i, sums[i] + tonumber(value(i, 1))) end
return reply('1')`;

/** Returns the numbers of the last calls of this process; nothing if Redis does not know it. */
export const callsScript: string = `${leases}
if not redis.call('ZSCORE', set, id) and redis.call('EXISTS', held .. ':ended') == 0 then return false end
local numbers = {}
for index, value in ipairs(redis.call('HGETALL', held .. ':calls')) do
  if index % 2 == 0 then numbers[index / 2] = value end
end
return numbers`;

/** Arguments of a script after its keys. */
export type ScriptValues = readonly (string | number)[];

/** Returns the words that run a script. */
export function toEval(script: string, keys: readonly string[], values: ScriptValues): string[] {
  return ["EVAL", script, String(keys.length), ...keys, ...values.map(String)];
}
