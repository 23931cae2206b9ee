/** Proxies that share the responses of the cache in one Redis. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { respond, startUpstream } from "../support/upstream.ts";

/** A proxy over real time, whose entries are in a Redis. */
async function open(upstream: string, sections: Readonly<Record<string, unknown>>) {
  const mesh = new ModelMesh();
  await mesh.initialize(testConfig({ upstreams: { a: upstream }, config: sections }));
  const traces: string[] = [];
  const trace = ({ component, message }: { component: string; message: string }) => {
    if (component === "cache") traces.push(message);
  };
  mesh.addSink({ emit: () => {}, trace, flush: () => Promise.resolve() });
  const server = await listen(createHandler(mesh), { port: 0 });
  return {
    traces,
    /** Reads or empties the cache. */
    async call(method: string) {
      const response = await fetch(`http://127.0.0.1:${server.port}/mesh/cache`, { method });
      return { status: response.status, body: await response.json() };
    },
    async ask(body: Readonly<Record<string, unknown>> = {}) {
      const response = await fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }], temperature: 0, ...body }),
      });
      const text = await response.text();
      return { status: response.status, cache: (response.headers.get("x-mesh-cache") ?? "").slice(0, 4), text };
    },
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      await mesh.close();
    },
  };
}

const places = {
  "the storage of the mesh": (storage: object) => ({ storage, cache: {} }),
  "a storage of its own": (storage: object) => ({ cache: { storage } }),
};

(hasRedis ? describe : describe.skip)("A response in a Redis", () => {
  for (const [place, toSections] of Object.entries(places)) {
    it(`serves another proxy, and the next one, from ${place}`, async () => {
      await using redis = await TestRedis.start();
      await using upstream = await startUpstream(respond());
      const sections = toSections({ connector: "redis.redis.v1", url: redis.url, prefix: crypto.randomUUID() });
      await using other = await open(upstream.url, sections);
      let first: Awaited<ReturnType<typeof other.ask>>;
      {
        await using one = await open(upstream.url, sections);
        first = await one.ask();
        assertEquals([first.status, first.cache], [200, "MISS"]);
        assertEquals((await one.ask()).cache, "HIT;");
      } // its end waits for what it writes
      const second = await other.ask();
      assertEquals([second.cache, second.text], ["HIT;", first.text]);
      await using next = await open(upstream.url, sections);
      assertEquals((await next.ask({ stream: true })).cache, "HIT;");
      assertEquals(upstream.requests.length, 1);
    });
  }

  it("is counted by all proxies, and deleted for all of them by one; hits are each one's own", async () => {
    await using redis = await TestRedis.start();
    await using upstream = await startUpstream(respond());
    const sections = { cache: { storage: { connector: "redis.redis.v1", url: redis.url } } };
    await using one = await open(upstream.url, sections);
    await using other = await open(upstream.url, sections);
    for (const top_p of [0.1, 0.2]) assertEquals((await one.ask({ top_p })).cache, "MISS");
    const count = async (proxy: typeof one) => {
      const { entries, hits, misses } = (await proxy.call("GET")).body;
      return [entries, hits, misses];
    };
    await until(async () => (await count(other))[0] === 2, "both are written");
    assertEquals((await other.ask({ top_p: 0.1 })).cache, "HIT;");
    assertEquals([await count(one), await count(other)], [[2, 0, 2], [2, 1, 0]]);
    assertEquals((await other.call("DELETE")).body, { cleared: 2 });
    assertEquals([await count(one), (await one.ask({ top_p: 0.1 })).cache], [[0, 0, 2], "MISS"]);
    await redis.kill();
    const { status, body } = await one.call("GET");
    assertEquals([status, body.error.code], [503, "storage_unavailable"]);
  });

  it("is done without while the Redis is down, and found again afterwards", async () => {
    await using redis = await TestRedis.start();
    await using upstream = await startUpstream(respond());
    const storage = { connector: "redis.redis.v1", url: redis.url };
    await using proxy = await open(upstream.url, { cache: { storage } });
    assertEquals([(await proxy.ask()).cache, (await proxy.ask()).cache], ["MISS", "HIT;"]);
    await redis.kill();
    for (const top_p of [0.1, 0.2, 0.3]) {
      const { status, cache } = await proxy.ask({ top_p });
      assertEquals([status, cache], [200, "MISS"]);
    }
    assertEquals(proxy.traces.length, 1);
    await redis.start();
    let seed = 0;
    await until(async () => {
      await proxy.ask({ seed: seed++ }); // each is looked up and written
      return proxy.traces.at(-1) === "The cache can be used again";
    }, "the end of the outage");
    await until(async () => (await proxy.ask()).cache === "HIT;", "the cache");
  });
});
