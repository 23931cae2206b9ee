/**
 * Scripts of the shared counters in Redis. Each call is one of them, and so atomic.
 * @module
 */

/** Retention of an ended process's leases, ms: a process that was only suspended regains them. */
export const endedMs = 86_400_000;

/**
 * Lease bookkeeping: a sorted set of processes by lease expiry, and for each process a hash of its leases by counter.
 * Arguments: the key of the set, the process id, `leaseMs`, `endedMs`, and the period.
 *
 * Recent changes: for each process and period a hash of its changes by counter, and of its leases by `~` and counter. It
 * shows which calls of a process a new master has, and which calls without a reply have had an effect.
 */
const leases = `
local set, id, period = ARGV[1], ARGV[2], ARGV[5]
local held = set .. ':' .. id
local function recent(number) return held .. ':recent:' .. string.format('%.0f', number) end
local function change(process, sign)
  local fields = redis.call('HGETALL', process)
  for i = 1, #fields, 2 do
    if redis.call('EXISTS', fields[i]) == 1 then
      redis.call('INCRBY', fields[i], string.format('%.0f', 0 + sign * tonumber(fields[i + 1])))
    end
  end
end
local function lease(key, amount)
  if redis.call('HINCRBY', held, key, amount) > 0 then return end
  redis.call('HDEL', held, key)
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
const renew = `
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

/** Ends the leases of this process. */
export const endScript: string = `${leases}
finish(id)
redis.call('DEL', held .. ':ended', recent(period), recent(period - 1))`;

/**
 * Common start of both scripts: reads the counters, raised to their known minimum. Further arguments come in groups of
 * five: amount, limit, minimum or empty, time to live in ms, leased amount.
 */
const read = `${leases}${renew}
local function value(i, at) return ARGV[5 + (i - 1) * 5 + at] end
local sums, written, changes = {}, {}, 0
for i, key in ipairs(KEYS) do
  written[i] = tonumber(redis.call('GET', key) or '0')
  sums[i] = math.max(written[i], tonumber(value(i, 3)) or written[i])
end
local function note(field, amount)
  changes = changes + 1
  redis.call('HINCRBY', recent(period), field, amount)
end
local function write(i, sum)
  local by, leased = value(i, 1), value(i, 5)
  if sum ~= written[i] then redis.call('SET', KEYS[i], string.format('%.0f', sum), 'PX', value(i, 4)) end
  sums[i] = sum
  if by ~= '0' then note(KEYS[i], by) end
  if leased == '0' then return end
  note('~' .. KEYS[i], leased)
  lease(KEYS[i], leased)
end
local function reply(first)
  if changes > 0 and redis.call('HINCRBY', recent(period), '', 1) == 1 then
    redis.call('PEXPIRE', recent(period), 3600000)
    redis.call('DEL', recent(period - 2))
  end
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

/**
 * Corrects what a connection has left: adds what was confirmed to this process, and a new master does not have; subtracts
 * what had an effect without a reply. Nothing is corrected in a Redis that does not know this process, or has forgotten
 * the period that argument 6 names: it has lost more than the last calls. Further arguments come in groups of four for
 * each key but the first, that of the set: period, amount, leased amount, time to live in ms.
 */
export const resumeScript: string = `${leases}
if not redis.call('ZSCORE', set, id) and redis.call('EXISTS', held .. ':ended') == 0 then return { '0', '0' } end
if ARGV[6] ~= '' and redis.call('EXISTS', recent(ARGV[6])) == 0 then return { '0', '0' } end
${renew}
for i = 2, #KEYS do
  local key, first = KEYS[i], 6 + (i - 2) * 4
  local number = recent(ARGV[first + 1])
  local function correct(field, amount)
    local missing = tonumber(amount) - tonumber(redis.call('HGET', number, field) or '0')
    if missing ~= 0 then redis.call('HINCRBY', number, field, string.format('%.0f', missing)) end
    return missing
  end
  local missing, leased = correct(key, ARGV[first + 2]), correct('~' .. key, ARGV[first + 3])
  if missing ~= 0 then
    local sum = tonumber(redis.call('GET', key) or '0') + missing
    redis.call('SET', key, string.format('%.0f', sum), 'PX', ARGV[first + 4])
  end
  if leased ~= 0 then lease(key, string.format('%.0f', leased)) end
end
return { '1', lost }`;
