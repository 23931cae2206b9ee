/** Entries that expire in a real Redis, alone and as a cluster. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { redisAddress } from "../../connectors/storage/_redis_address.ts";
import { redisOnDemand } from "../../connectors/storage/_redis_on_demand.ts";
import { RedisStorage } from "../../connectors/storage/redis.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Storage } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import type { FakeClock } from "../../src/runtime/test.ts";
import { entriesConformance } from "../contracts/entries.ts";
import { until } from "../support/patience.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { TestRedisCluster } from "../support/redis_groups.ts";

const runtime = serverRuntime();
const { clock } = runtime;
let server: TestRedis;
let cluster: TestRedisCluster;
let made = 0;
const open: Storage[] = [];

/** A fake ms is 1000 in Redis, so that what really passes meanwhile does not count. */
const scale = 1000;

const ageScript = [
  "for _, key in ipairs(redis.call('KEYS', '*' .. ARGV[1] .. '*:cache:*')) do",
  "local left = redis.call('PTTL', key) - ARGV[2]",
  "if left < 500 then redis.call('DEL', key) else redis.call('PEXPIRE', key, left) end end",
].join(" ");

/** Lets entries grow old by the fake clock: what that one lets pass is taken off their time. */
function withAging(time: FakeClock, prefix: string, servers: readonly TestRedis[]): void {
  const { advance } = time;
  time.advance = async (ms) => {
    for (const one of servers) await one.command("EVAL", `"${ageScript}"`, "0", prefix, String(ms * scale));
    await advance.call(time, ms);
  };
}

function scaled(storage: Storage, time: Clock): Storage {
  const { entries } = storage;
  const { set } = entries!;
  entries!.set = (key, data, expiresAt) => set.call(entries, key, data, time.now() + (expiresAt - time.now()) * scale);
  open.push(storage);
  return storage;
}

(hasRedis ? describe : describe.skip)("the entries of redis.redis.v1", () => {
  beforeAll(async () => void (server = await TestRedis.start()));
  afterAll(async () => {
    for (const storage of open.splice(0)) await storage.close?.();
    await server[Symbol.asyncDispose]();
  });

  const conformance = entriesConformance((time) => {
    const prefix = `test-${made++}`;
    withAging(time, prefix, [server]);
    const address = redisAddress({ url: server.url });
    const other = redisOnDemand({ ...runtime, clock: time }, { url: server.url, prefix });
    return [new RedisStorage(time, { address, prefix }), other].map((storage) => scaled(storage, time));
  });
  for (const { name, run } of conformance) it(name, run);

  const create = (settings: Readonly<Record<string, unknown>>, prefix?: string) => {
    const storage = new RedisStorage(clock, { address: redisAddress(settings), ...(prefix && { prefix }) });
    open.push(storage);
    return storage;
  };

  it("expire by Redis's own clock, with their process gone", async () => {
    const storage = create({ url: server.url }, "own-clock");
    await storage.entries.set("short", Uint8Array.of(1), clock.now() + 30);
    await storage.entries.set("long", Uint8Array.of(1), clock.now() + 1e9);
    await storage.entries.set("endless", Uint8Array.of(1), Infinity);
    await until(async () => await storage.entries.get("short") === undefined);
    assertEquals(await storage.entries.stats(), { entries: 2, bytes: 2 });
    const ttl = await server.command("PTTL", "own-clock:cache:/endless");
    assert(Number(/:(\d+)/.exec(ttl)?.[1]) > 1e11, ttl);
  });

  it("are deleted with their prefix alone, whatever else Redis has", async () => {
    const [one, other, inner] = ["same", "same2", "same:cache"].map((prefix) => create({ url: server.url }, prefix));
    await inner!.save("state", Uint8Array.of(1));
    for (const { entries } of [one!, other!, inner!]) await entries.set("key", Uint8Array.of(1), clock.now() + 1e6);
    assertEquals(await one!.entries.stats(), { entries: 1, bytes: 1 });
    assertEquals([await one!.entries.clear(), await one!.entries.get("key")], [1, undefined]);
    assertEquals(await Promise.all([other!, inner!].map(({ entries }) => entries.get("key"))), [
      Uint8Array.of(1),
      Uint8Array.of(1),
    ]);
    assertEquals(await inner!.load("state"), Uint8Array.of(1));
  });

  it("are counted and deleted without a command that blocks Redis", async () => {
    const storage = create({ url: server.url }, "blocking");
    await storage.entries.set("key", Uint8Array.of(1), clock.now() + 1e6);
    await server.command("CONFIG RESETSTAT");
    assertEquals([await storage.entries.stats(), await storage.entries.clear()], [{ entries: 1, bytes: 1 }, 1]);
    const used = [...(await server.command("INFO commandstats")).matchAll(/cmdstat_(\w+)/g)].map(([, name]) => name);
    const own = used.filter((name) => name !== "config" && name !== "quit");
    assertEquals(own.sort(), ["eval", "hget", "scan", "unlink"]);
  });

  it("fail at once while Redis is away, and are back with it", async () => {
    await using own = await TestRedis.start();
    const { entries } = create({ host: "127.0.0.1", port: own.port });
    await entries.set("key", Uint8Array.of(1), clock.now() + 1e6);
    await own.kill();
    for (const call of [() => entries.get("key"), () => entries.set("key", Uint8Array.of(1), Infinity)]) {
      await assertRejects(call, ConnectorError, "cannot reach Redis");
    }
    for (const call of [() => entries.delete("key"), () => entries.stats(), () => entries.clear()]) {
      await assertRejects(call, ConnectorError, "cannot reach Redis");
    }
    await own.start();
    await until(() => entries.set("key", Uint8Array.of(2), clock.now() + 1e6).then(() => true, () => false));
    assertEquals(await entries.get("key"), Uint8Array.of(2));
  });
});

(hasRedis ? describe : describe.skip)("the entries of a Redis Cluster", () => {
  beforeAll(async () => void (cluster = await TestRedisCluster.start()));
  afterAll(async () => {
    for (const storage of open.splice(0)) await storage.close?.();
    await cluster[Symbol.asyncDispose]();
  });

  const conformance = entriesConformance((time) => {
    const prefix = `test-${made++}`;
    withAging(time, prefix, cluster.servers);
    const address = redisAddress({ cluster: cluster.nodes });
    return [1, 2].map(() => scaled(new RedisStorage(time, { address, prefix }), time));
  });
  for (const { name, run } of conformance) it(name, run);

  it("are on several masters", async () => {
    const storage = new RedisStorage(clock, { address: redisAddress({ cluster: cluster.nodes }), prefix: "spread" });
    open.push(storage);
    const keys = Array.from({ length: 40 }, (_, index) => `${index}`);
    await Promise.all(keys.map((key) => storage.entries.set(key, Uint8Array.of(1), clock.now() + 1e6)));
    const counts = await Promise.all(cluster.servers.map((server) => server.command("DBSIZE")));
    assert(counts.filter((count) => count.trim() !== ":0").length > 1, String(counts));
  });
});
