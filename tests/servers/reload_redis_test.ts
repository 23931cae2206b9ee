/** A reload where counts live in a Redis that other proxies share. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { budgeted, startOnFile } from "../support/_renewed.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { Gate, ok, startUpstream } from "../support/upstream.ts";

(hasRedis ? describe : describe.skip)("a reload where a Redis is shared", () => {
  it("takes effect for money although another proxy is still in standby by the old limit", async () => {
    await using redis = await TestRedis.start();
    const [folder, beside] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
    await using upstream = await startUpstream(ok());
    const storage = { connector: "redis.redis.v1", url: redis.url, prefix: crypto.randomUUID() };
    const unknownCaller = "of-nobody-0123456789";
    await using started = await startOnFile(folder, budgeted(upstream, storage, 1));
    await using other = await startOnFile(beside, budgeted(upstream, storage, 1));
    assertEquals([await started.ask(unknownCaller), await other.ask(unknownCaller)], [200, 200]);
    assertEquals([await started.ask(unknownCaller), await other.ask(unknownCaller)], [429, 429]);
    await started.renew(budgeted(upstream, storage, 2));
    assertEquals([await started.ask(unknownCaller), await started.ask(unknownCaller)], [200, 429]);
    for (const path of [folder, beside]) await Deno.remove(path, { recursive: true });
  });

  it("counts every dollar once, of all and of a client, requests under way included", async () => {
    await using redis = await TestRedis.start();
    const folder = await Deno.makeTempDir();
    await using upstream = await startUpstream(ok());
    const storage = { connector: "redis.redis.v1", url: redis.url, prefix: crypto.randomUUID() };
    const beside = await Deno.makeTempDir();
    await using started = await startOnFile(folder, budgeted(upstream, storage, 6));
    await using other = await startOnFile(beside, budgeted(upstream, storage, 6));
    assertEquals([await started.ask(), await other.ask()], [200, 200]);
    const gate = new Gate();
    upstream.follow({ play: async (exchange) => void (await gate.pass(), await ok().play(exchange)) });
    const underWay = started.ask();
    await gate.reached(1);
    await started.renew(budgeted(upstream, storage, 5));
    gate.openAll();
    assertEquals(await underWay, 200);
    upstream.follow(ok());
    assertEquals([await started.ask(), await started.ask(), await started.ask()], [200, 200, 429]);
    assertEquals([await other.ask(), await other.ask()], [200, 429], "6 of the client there, whose limit is another");
    for (const path of [folder, beside]) await Deno.remove(path, { recursive: true });
  });
});
