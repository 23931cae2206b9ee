/** Proxies on a Redis whose master sentinels name: they follow it when it fails over, or hangs. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openStorage } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { until } from "../support/patience.ts";
import { hasRedis, type TestRedis } from "../support/redis.ts";
import { TestRedisSentinel } from "../support/redis_groups.ts";
import { askAll, costlyResponse, spendAll, startSharedBudget, untilAllSay } from "../support/shared_budget.ts";
import { tally } from "../support/_tuned.ts";
import { startUpstream } from "../support/upstream.ts";

/** A failover ends connections. */
const ask = (server: TestRedis | undefined, command: string) => server!.command(command).catch(() => "");

const bytes = new TextEncoder().encode('{"a":1}');
const expiresAt = Date.now() + 1e7;

const open = (sentinel: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) =>
  openStorage({ connector: "redis.redis.v1", sentinel, ...more });

(hasRedis ? describe : describe.skip)("A Redis behind sentinels", () => {
  it("loses no dollar and spends none twice while its master is killed", async () => {
    const dollars = 150;
    await using redis = await TestRedisSentinel.start();
    await using upstream = await startUpstream(costlyResponse);
    const { master, nodes } = redis.setting;
    const sentinel = { master, nodes: ["127.0.0.1:1", ...nodes] }; // the first one is down
    await using proxies = await startSharedBudget({ attributes: { sentinel }, upstream, dollars, prefix: "killed" });
    const spending = spendAll(proxies);
    await until(() => upstream.calls > 40, "there is load");
    await (await redis.findMaster()).kill();
    const results = await spending;
    assertEquals(upstream.calls, dollars);
    assertEquals(results.filter(({ status }) => status === 200).length, dollars);
    await untilAllSay(proxies, "available again");
    const all = await askAll(proxies, 10);
    assertEquals(tally(all.map(({ status, code }) => code ?? status)), { budget_exceeded: 10 });
    proxies[0]!.mesh.deactivate("a"); // messages arrive by the new master, too
    await until(async () => {
      await proxies.hear();
      return proxies[1]!.mesh.listModels()[0]!.status === "standby";
    });
  });

  it("is left by its clients when it hangs", async () => {
    await using redis = await TestRedisSentinel.start();
    const storage = await open(redis.setting, { read_from: "replica" });
    await storage.save("record", bytes);
    await storage.shared!.add([{ key: "sum", by: 5, expiresAt }]);
    assertEquals(await storage.load("record"), bytes);
    const [first, second] = redis.servers;
    await until(async () => (await ask(second, `GET "modelmesh:sum:sum"`)).includes("5"));
    first!.freeze();
    const sums: number[] = [];
    await until(async () => {
      sums.push(...await storage.shared!.add([{ key: "sum", by: 0, expiresAt }]).catch(() => []));
      return sums.length > 0;
    }, "the new master answers");
    assertEquals(sums, [5]);
    await storage.close!();
  });

  it("takes over what was counted by the old master until its clients have left it", async () => {
    await using redis = await TestRedisSentinel.start();
    const storage = await open(redis.setting);
    const [, second] = redis.servers;
    const readSecond = async () => Number(/\r\n(\d+)\r\n/.exec(await ask(second, `GET "modelmesh:sum:sum"`))?.[1]);
    let added = 0;
    const add = async () => {
      await storage.shared!.add([{ key: "sum", by: 1, expiresAt }]).then(() => added++, () => {});
    };
    await add();
    await until(async () => await readSecond() === 1, "the replica has it");
    await until(async () => (await ask(redis.sentinel, "SENTINEL FAILOVER state")).includes("+OK"));
    await until(async () => (await ask(second, "INFO replication")).includes("role:master"));
    for (let calls = 0; calls < 20; calls++) await add();
    await until(async () => await redis.findMaster() === second, "the sentinel names the other one");
    await until(async () => {
      await add();
      return await readSecond() === added;
    }, () => `the new master has all of ${added}`);
    await storage.close!();
  });

  it("grants nothing after a failover until other processes have added what the new master lacks", async () => {
    await using redis = await TestRedisSentinel.start();
    const [first, second] = redis.servers;
    const clocks = [fakeClock(), fakeClock()];
    const section = { connector: "redis.redis.v1", sentinel: redis.setting };
    const [one, other] = await Promise.all(clocks.map((clock) => openStorage(section, { clock })));
    const reserve = (storage: typeof one) =>
      storage!.shared!.reserve([{ key: "sum", amount: 60, limit: 100, expiresAt: 1e13, isLeased: true }]);
    for (const storage of [one, other]) await storage!.shared!.add([{ key: "sum", by: 1, expiresAt: 1e13 }]);
    await until(async () => (await ask(second, `GET "modelmesh:sum:sum"`)).includes("2"));
    second!.freeze();
    assertEquals((await reserve(other)).isGranted, true);
    await first!.kill();
    second!.thaw();
    await until(async () => (await ask(second, "INFO replication")).includes("role:master"));
    await until(async () => await redis.findMaster() === second);
    const refused: unknown[] = [];
    for (let passed = 0; passed < 700; passed += 20) {
      refused.push(await reserve(one).then(({ isGranted }) => isGranted, () => "unavailable"));
      await clocks[0]!.advance(20);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assertEquals(new Set(refused), new Set(["unavailable"]));
    await until(async () => {
      await clocks[1]!.advance(20);
      return (await ask(second, `GET "modelmesh:sum:sum"`)).includes("62");
    }, "the other process has added its reservation");
    await until(async () => {
      await clocks[0]!.advance(20);
      return await reserve(one).then(({ isGranted }) => !isGranted, () => false);
    }, "the new master refuses what does not fit");
    await Promise.all([one, other].map((storage) => storage!.close!()));
  });

  it("is logged into with users of its own, and of the sentinels", async () => {
    const users = "--user data on >password-of-data ~* &* +@all --user default off".split(" ");
    const replication = ["--masteruser", "data", "--masterauth", "password-of-data"];
    await using redis = await TestRedisSentinel.start({
      args: [...users, ...replication],
      lines: [
        "sentinel auth-user state data",
        "sentinel auth-pass state password-of-data",
        "user watch on >password-of-watch &* -@all +sentinel|get-master-addr-by-name +sentinel|replicas",
        "user default off",
      ],
    });
    const { setting } = redis;
    const login = { username: "data", password: "password-of-data" };
    const storage = await open({ ...setting, username: "watch", password: "password-of-watch" }, login);
    await storage.save("record", bytes);
    assertEquals(await storage.load("record"), bytes);
    await storage.close!();
    for (
      const [sentinel, refused] of [
        [{ ...setting, username: "watch", password: "of another" }, /wrong username or password \(WRONGPASS\)/],
        [setting, /requires a password \(NOAUTH\)|HELLO must be called/],
      ] as const
    ) {
      const other = await open(sentinel, login);
      const error = await other.load("record").then(() => undefined, (error) => error);
      assertMatch(error.message, refused);
      assert(!error.message.includes("of another"));
      await other.close!();
    }
  });

  it("is named when no sentinel knows it, or none answers", async () => {
    await using redis = await TestRedisSentinel.start();
    for (
      const [sentinel, named] of [
        [{ ...redis.setting, master: "other" }, /the sentinels know no master "other"/],
        [
          { ...redis.setting, nodes: ["127.0.0.1:1", "127.0.0.1:2"] },
          /cannot reach the sentinels at 127.0.0.1:1, 127.0.0.1:2/,
        ],
      ] as const
    ) {
      const storage = await open(sentinel);
      const error = await storage.load("record").then(() => undefined, (error) => error);
      assertMatch(error.message, named);
      assertEquals(error.problem, "unavailable");
      await storage.close!();
    }
  });
});
