/** The storage of a real Redis: what every storage does, and what is its own. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { redisAddress } from "../../connectors/storage/_redis_address.ts";
import { RedisStorage } from "../../connectors/storage/redis.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import type { FakeClock } from "../../src/runtime/test.ts";
import { storageConformance } from "../contracts/storage.ts";
import { until } from "../support/patience.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { RedisConnection } from "../../connectors/storage/_redis_client.ts";

const { clock } = serverRuntime();
let server: TestRedis;
let made = 0;
const open: (() => Promise<void>)[] = [];

function createStorage(time: Clock = clock, prefix = `test-${made++}`): RedisStorage {
  const storage = new RedisStorage(time, { address: redisAddress({ url: server.url }), prefix });
  open.push(() => storage.close());
  return storage;
}

/** A fake ms is a second in Redis, so that what really passes meanwhile does not count. */
const scale = 1000;

/** A storage whose locks also grow old by the fake clock: what that one lets pass is taken off their time in Redis. */
function aging(time: FakeClock): RedisStorage {
  const prefix = `aging-${made++}`;
  const connection = new RedisConnection(redisAddress({ url: server.url }), clock);
  open.push(() => connection.close());
  const age = `
    for _, key in ipairs(redis.call('KEYS', ARGV[1] .. ':lock:*')) do
      local left = redis.call('PTTL', key) - ARGV[2]
      if left < 500 then redis.call('DEL', key) else redis.call('PEXPIRE', key, left) end
    end`;
  const pass = (ms: number) => connection.run(age, [], [prefix, ms * scale]);
  const { advance, sleep } = time;
  time.advance = async (ms) => {
    await pass(ms);
    await advance.call(time, ms);
  };
  time.sleep = async (ms, signal) => {
    await pass(ms);
    await sleep.call(time, ms, signal);
  };
  const storage = createStorage(time, prefix);
  const { acquire } = storage;
  storage.acquire = async (key, options) => {
    const { ttlMs } = options;
    const lock = await acquire.call(storage, key, { ...options, ttlMs: ttlMs * scale });
    return { ...lock, expiresAt: lock.expiresAt - ttlMs * (scale - 1) };
  };
  return storage;
}

(hasRedis ? describe : describe.skip)("the storage redis.redis.v1", () => {
  beforeAll(async () => void (server = await TestRedis.start()));
  afterAll(async () => {
    for (const close of open) await close();
    await server[Symbol.asyncDispose]();
  });

  for (const { name, run } of storageConformance((time) => aging(time as FakeClock))) it(name, run);

  it("frees the lock of an owner that is gone by Redis's own clock", async () => {
    const storage = createStorage();
    const started = clock.monotonic();
    await storage.acquire("key", { owner: "gone", ttlMs: 100 });
    const lock = await storage.acquire("key", { owner: "next", ttlMs: 60_000, retryIntervalMs: 10 });
    assertEquals([lock.owner, clock.monotonic() - started >= 90], ["next", true]);
  });

  it("keeps what has another prefix apart", async () => {
    const [one, other] = [createStorage(), createStorage()];
    await one.save("state", Uint8Array.of(1));
    assertEquals([await other.load("state"), await other.list()], [undefined, []]);
  });

  it("says where it cannot reach a Redis, and nothing of the password", async () => {
    const address = redisAddress({ url: "redis://me:hush-hush@127.0.0.1:1" });
    const storage = new RedisStorage(clock, { address });
    const error = await assertRejects(() => storage.load("state"), ConnectorError);
    await storage.close();
    assertEquals([error.problem, error.message.includes("127.0.0.1:1"), /hush/.test(error.message)], [
      "unavailable",
      true,
      false,
    ]);
  });

  it("says that Redis does not take the password", async () => {
    const address = redisAddress({ url: `redis://me:hush-hush@127.0.0.1:${server.port}` });
    const storage = new RedisStorage(clock, { address });
    const error = await assertRejects(() => storage.load("state"), ConnectorError, "check username, password");
    await storage.close();
    assertEquals([error.problem, /hush/.test(error.message)], ["forbidden", false]);
  });

  it("names the package that is missing", async () => {
    const importClient = () => Promise.reject(new TypeError("Cannot find module"));
    const storage = new RedisStorage(clock, { address: redisAddress({}), importClient });
    await assertRejects(() => storage.load("state"), ConnectorError, '"@redis/client", which is not installed');
  });

  it("serves again by itself after Redis was away", async () => {
    await using own = await TestRedis.start();
    const storage = new RedisStorage(clock, { address: redisAddress({ host: "127.0.0.1", port: own.port }) });
    await storage.save("key", Uint8Array.of(1));
    await own.kill();
    await assertRejects(() => storage.load("key"), ConnectorError, "cannot reach Redis");
    await own.start();
    await until(() => storage.exists("key").then(() => true, () => false));
    assertEquals(await storage.load("key"), undefined);
    await storage.close();
  });
});

describe("the address of a Redis", () => {
  it("is read from a url or from parts", () => {
    const base = { host: "cache", port: 6379, isTls: false, db: 0 };
    assertEquals(redisAddress({ url: "redis://cache" }), base);
    assertEquals(redisAddress({ host: "cache" }), base);
    assertEquals(redisAddress({ url: "rediss://a:p%40ss@cache:7000/3" }), {
      host: "cache",
      port: 7000,
      isTls: true,
      db: 3,
      username: "a",
      password: "p@ss",
    });
    assertEquals(redisAddress({ host: "cache", port: 7000, username: "a", password: "p@ss", db: 3 }), {
      host: "cache",
      port: 7000,
      isTls: false,
      db: 3,
      username: "a",
      password: "p@ss",
    });
  });

  it("is refused with everything that does not hold, the password unquoted", () => {
    const bad: [Record<string, unknown>, string[]][] = [
      [{ url: "http://cache" }, ["storage.url"]],
      [{ url: "redis://cache/one" }, ["storage.url"]],
      [{ url: "redis://cache", port: 1 }, ["storage.port"]],
      [{ port: 0, db: -1 }, ["storage.port", "storage.db"]],
      [{ host: "", password: 1 }, ["storage.host", "storage.password"]],
    ];
    for (const [settings, paths] of bad) {
      const error = assertThrows(() => redisAddress(settings), ConfigError);
      assertEquals(error.problems.map(({ path }) => path), paths);
    }
    const error = assertThrows(() => redisAddress({ url: "nope://me:hush@cache" }), ConfigError);
    assertEquals(error.message.includes("hush"), false);
  });
});
