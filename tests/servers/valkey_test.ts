/** Valkey: what Redis does. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import { openStorage } from "../../mod.ts";
import { makeFolder } from "../support/_library.ts";
import { until } from "../support/patience.ts";
import { TestRedis } from "../support/redis.ts";

const program = "valkey-server";
const isInstalled = spawnSync(program, ["--version"]).status === 0;
const expiresAt = Date.now() + 1e7;
const bytes = new TextEncoder().encode('{"a":1}');

if (!isInstalled) console.error(`\n!!! ${program} is missing (not in every distribution): Valkey IS NOT TESTED\n`);

async function check(servers: Readonly<Record<string, unknown>>): Promise<void> {
  const [one, other] = await Promise.all([1, 2].map(() => openStorage({ connector: "redis.redis.v1", ...servers })));
  await one!.save("record", bytes);
  assertEquals([await other!.load("record"), await other!.list()], [bytes, ["record"]]);
  const taken = { key: "sum", amount: 3, limit: 5, expiresAt, isLeased: true };
  const grants = await Promise.all([one, other].map((storage) => storage!.shared!.reserve([taken])));
  assertEquals(grants.filter(({ isGranted }) => isGranted).length, 1);
  const messages: string[] = [];
  await other!.shared!.subscribe("news", (message) => messages.push(message));
  await one!.shared!.publish("news", "a");
  await until(() => messages.length === 1, "the message arrives");
  await Promise.all([one, other].map((storage) => storage!.close!()));
}

(isInstalled ? describe : describe.skip)("A Valkey", () => {
  it("shares records, counters and messages, alone and as a cluster", async () => {
    const folder = await makeFolder();
    await using alone = await TestRedis.start([], program);
    await check({ url: alone.url });
    await using node = await TestRedis.start(["--cluster-enabled", "yes", "--dir", folder.path], program);
    await node.command("CLUSTER ADDSLOTSRANGE 0 16383");
    await until(async () => (await node.command("CLUSTER INFO")).includes("cluster_state:ok"));
    await check({ cluster: [`127.0.0.1:${node.port}`], read_from: "replica" });
    await folder[Symbol.asyncDispose]();
  });
});
