/** A Redis Cluster under load, whose masters are killed one after the other: every amount counts once. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openStorage } from "../../mod.ts";
import { until } from "../support/patience.ts";
import { hasRedis, type TestRedis } from "../support/redis.ts";
import { TestRedisCluster } from "../support/redis_groups.ts";

const expiresAt = Date.now() + 1e8;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

(hasRedis ? describe : describe.skip)("Counters in a Redis Cluster", () => {
  it("are exact after three failovers, whatever was in flight", async () => {
    await using cluster = await TestRedisCluster.start({ replicas: true });
    const open = () => openStorage({ connector: "redis.redis.v1", cluster: cluster.nodes });
    const stores = await Promise.all([open(), open(), open(), open()]);
    let [settled, isOver] = [0, false];
    const reserve = { amount: 3, limit: Number.MAX_SAFE_INTEGER, expiresAt, isLeased: true };
    const loops = stores.flatMap(({ shared }) =>
      Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const grant = await shared!.reserve([{ ...reserve, key: "sum" }]).catch(() => undefined);
          if (grant === undefined) {
            await pause(5);
            continue;
          }
          const settle = () =>
            shared!.add([{ key: "sum", by: -1, leased: -3, expiresAt }]).then(() => true, () => false);
          await until(settle, "it is settled");
          settled++;
        }
      })
    );
    for (let failovers = 0; failovers < 3; failovers++) {
      const before = settled;
      await until(() => settled > before + 500, "there is load");
      const master = await cluster.findMaster("{modelmesh}");
      await master.kill();
      let next: TestRedis | undefined;
      await until(async () => {
        next = await cluster.findMaster("{modelmesh}").catch(() => undefined);
        return next !== undefined && next !== master;
      }, "another one is the master");
      const after = settled;
      await until(() => settled > after + 500, "the new master serves");
      await master.start();
      await until(async () => (await master.command("INFO replication")).includes("master_link_status:up"));
    }
    isOver = true;
    await Promise.all(loops);
    assert(settled > 3000);
    assertEquals(await stores[0]!.shared!.add([{ key: "sum", by: 0, expiresAt }]), [2 * settled]);
    await Promise.all(stores.map((storage) => storage.close!()));
  });
});
