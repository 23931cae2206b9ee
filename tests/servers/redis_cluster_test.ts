/** Proxies on a Redis Cluster: budgets are exact on three masters, and while a master fails over. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { openStorage } from "../../mod.ts";
import { until } from "../support/patience.ts";
import { hasRedis, type TestRedis } from "../support/redis.ts";
import { TestRedisCluster } from "../support/redis_groups.ts";
import { askAll, costlyResponse, spendAll, startSharedBudget, untilAllSay } from "../support/shared_budget.ts";
import { tally } from "../support/_tuned.ts";
import { startUpstream } from "../support/upstream.ts";

const bytes = new TextEncoder().encode("a");
const expiresAt = Date.now() + 1e7;

let cluster: TestRedisCluster;

const open = (prefix: string, more: Readonly<Record<string, unknown>> = {}) =>
  openStorage({ connector: "redis.redis.v1", cluster: cluster.nodes, prefix, ...more });

/** The master of what a prefix counts. */
const findMaster = (prefix: string) => cluster.findMaster(`{${prefix}}`);

async function ownSlot(prefix: string): Promise<[master: TestRedis, slot: string]> {
  const master = await findMaster(prefix);
  return [master, /\d+/.exec(await master.command(`CLUSTER KEYSLOT {${prefix}}`))![0]];
}

(hasRedis ? describe : describe.skip)("A Redis Cluster", () => {
  beforeAll(async () => void (cluster = await TestRedisCluster.start({ replicas: true })));
  afterAll(() => cluster[Symbol.asyncDispose]());

  it("has its records on several masters, and lists those of all", async () => {
    const storage = await open("records");
    const keys = Array.from({ length: 40 }, (_, index) => `records/${String(index).padStart(2, "0")}`);
    await Promise.all(keys.map((key) => storage.save(key, bytes)));
    assertEquals(await storage.list("records/"), keys);
    const counts = await Promise.all(cluster.servers.map((server) => server.command("DBSIZE")));
    assert(new Set(counts).size > 1, String(counts));
    assertEquals([await storage.delete(keys[0]!), await storage.exists(keys[0]!)], [true, false]);
    const lock = await storage.acquire("lock", { owner: "one", ttlMs: 10_000 });
    assertEquals(await storage.isLocked("lock"), true);
    await storage.release(lock);
    await storage.close!();
  });

  for (const count of [2, 4]) {
    it(`holds a budget of three levels exactly for ${count} proxies, asked a hundred times at once`, async () => {
      await using upstream = await startUpstream(costlyResponse);
      await using proxies = await startSharedBudget({
        attributes: { cluster: cluster.nodes.slice(0, 1) },
        upstream,
        dollars: 30,
        count,
      });
      const all = await askAll(proxies, 100);
      assertEquals(tally(all.map(({ status, code }) => code ?? status)), { 200: 30, budget_exceeded: 70 });
      assertEquals(upstream.calls, 30);
    });
  }

  it("follows its keys to another node, without an outage", async () => {
    const storage = await open("moved");
    await storage.shared!.add([{ key: "sum", by: 5, expiresAt }]);
    const [from, slot] = await ownSlot("moved");
    const infos = await Promise.all(cluster.servers.map((server) => server.command("CLUSTER NODES")));
    const to = cluster.servers.find((server, index) => server !== from && /myself,master/.test(infos[index]!))!;
    const idOf = async (server: TestRedis) => /[0-9a-f]{40}/.exec(await server.command("CLUSTER MYID"))![0];
    const [fromId, toId] = [await idOf(from), await idOf(to)];
    await to.command(`CLUSTER SETSLOT ${slot} IMPORTING ${fromId}`);
    await from.command(`CLUSTER SETSLOT ${slot} MIGRATING ${toId}`);
    const found = await from.command(`CLUSTER GETKEYSINSLOT ${slot} 100`);
    const keys = found.split("\r\n").filter((line) => line.includes("moved")).map((key) => `"${key}"`).join(" ");
    await from.command(`MIGRATE 127.0.0.1 ${to.port} "" 0 5000 KEYS ${keys}`);
    for (const server of [to, from]) await server.command(`CLUSTER SETSLOT ${slot} NODE ${toId}`);
    assertEquals(await storage.shared!.add([{ key: "sum", by: 1, expiresAt }]), [6]);
    await storage.close!();
  });

  it("names the slot that no node serves, and serves again when one does", async () => {
    const storage = await open("gap");
    await storage.shared!.add([{ key: "sum", by: 5, expiresAt }]);
    const [master, slot] = await ownSlot("gap");
    for (const server of cluster.servers) await server.command(`CLUSTER DELSLOTS ${slot}`);
    let failed: { message: string; problem?: string } | undefined;
    await until(async () => {
      failed = await storage.shared!.add([{ key: "sum", by: 0, expiresAt }]).then(() => undefined, (error) => error);
      return failed?.message.includes("no node serves") ?? false;
    }, () => `the slot is named: ${failed?.message}`);
    assertMatch(failed!.message, new RegExp(`no node serves slot ${slot}, which has the keys {gap}`));
    assertEquals(failed!.problem, "unavailable");
    const other = await open("elsewhere");
    await until(async () => {
      failed = await other.shared!.add([{ key: "sum", by: 0, expiresAt }]).then(() => undefined, (error) => error);
      return failed?.message.includes(`no node serves the slots ${slot} (CLUSTERDOWN)`) ?? false;
    }, () => `the slot is named: ${failed?.message}`);
    await other.close!();
    await master.command(`CLUSTER ADDSLOTS ${slot}`);
    await until(() => storage.shared!.add([{ key: "sum", by: 0, expiresAt }]).then(() => true, () => false));
    await storage.close!();
  });

  it("loses no dollar and spends none twice while the master of the budget is killed", async () => {
    const dollars = 150;
    await using upstream = await startUpstream(costlyResponse);
    await using proxies = await startSharedBudget({
      attributes: { cluster: cluster.nodes, read_from: "replica" },
      upstream,
      dollars,
      prefix: "killed",
    });
    const spending = spendAll(proxies);
    await until(() => upstream.calls > 40, "there is load");
    const master = await findMaster("killed");
    await master.kill();
    const results = await spending;
    assertEquals(upstream.calls, dollars);
    assertEquals(results.filter(({ status }) => status === 200).length, dollars);
    await untilAllSay(proxies, "available again");
    proxies[0]!.mesh.deactivate("a"); // messages arrive by the new master, too
    await until(async () => {
      await proxies.hear();
      return proxies[1]!.mesh.listModels()[0]!.status === "standby";
    });
  });
});
