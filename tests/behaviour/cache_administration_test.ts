/** The operations of the cache: its metrics, `/mesh/cache`, and what `explain` says. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { stateIn } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { operationStage } from "../support/_operations.ts";
import { startTestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { embeddings, ok, startUpstream } from "../support/upstream.ts";

const tokens = [
  { token: "t-admin", name: "admin" },
  { token: "t-team", name: "team", pools: ["chat"] },
];

/** A proxy with a cache, whose model costs 0.0002 USD a request. */
async function open(options: Partial<TestProxyOptions> = {}) {
  const upstream = await startUpstream(ok());
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    ...options,
    config: {
      models: {
        a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 0.0002 } },
      },
      cache: {},
      proxy: { auth: { method: "bearer", tokens } },
      ...options.config,
    },
  });
  const call = async (path: string, token = "t-admin", init: RequestInit = {}) => {
    const response = await fetch(proxy.url + path, { ...init, headers: { authorization: `Bearer ${token}` } });
    return { status: response.status, text: await response.text() };
  };
  return {
    ...proxy,
    upstream,
    call,
    async stats(token?: string) {
      return JSON.parse((await call("/mesh/cache", token)).text);
    },
    async ask(content: string, more = {}) {
      const headers = { authorization: "Bearer t-admin", "content-type": "application/json" };
      const body = { messages: [{ role: "user", content }], temperature: 0, ...more };
      const response = await proxy.chat(body, { headers });
      assertEquals(response.status, 200, await response.clone().text());
      await response.text();
      return response.headers.get("x-mesh-cache");
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** A storage whose entries fail. */
function createFailing(): MemoryStorage {
  const storage = new MemoryStorage(fakeClock());
  const fail = () => Promise.reject(new TypeError("hush-hush"));
  Object.assign(storage, { entries: { get: fail, set: fail, delete: fail, stats: fail, clear: fail } });
  return storage;
}

describe("GET /mesh/cache", () => {
  it("counts entries, hits, misses and what was saved", async () => {
    await using proxy = await open();
    assertEquals(await proxy.stats(), { entries: 0, bytes: 0, hits: 0, misses: 0, saved_usd: 0 });
    for (const content of ["one", "two", "one", "one", "one"]) await proxy.ask(content);
    await proxy.ask("never", { temperature: 1 });
    const { bytes, ...counts } = await proxy.stats();
    assertEquals(counts, { entries: 2, hits: 3, misses: 2, saved_usd: 0.0006 });
    assertEquals(bytes > 200 && bytes < 4000, true, String(bytes));
  });

  it("counts no entry that has expired", async () => {
    await using proxy = await open({ clock: fakeClock(), config: { cache: { ttl: "10s" } } });
    await proxy.ask("one");
    await proxy.clock.advance(10_000);
    assertEquals((await proxy.stats()).entries, 0);
  });
});

describe("DELETE /mesh/cache", () => {
  it("deletes all entries, and says how many", async () => {
    await using proxy = await open();
    for (const content of ["one", "two", "one"]) await proxy.ask(content);
    assertEquals(await proxy.call("/mesh/cache", "t-admin", { method: "DELETE" }), {
      status: 200,
      text: '{"cleared":2}',
    });
    const { entries, hits, misses } = await proxy.stats();
    assertEquals([entries, hits, misses, await proxy.ask("one")], [0, 1, 2, "MISS"]);
    assertEquals(proxy.upstream.requests.length, 3);
  });
});

describe("/mesh/cache", () => {
  it("is read and emptied by administrators alone", async () => {
    await using proxy = await open();
    await proxy.ask("one");
    const statuses = async (method: string) => {
      const called = tokens.map(({ token }) => proxy.call("/mesh/cache", token, { method }));
      return (await Promise.all(called)).map(({ status }) => status);
    };
    assertEquals(await statuses("GET"), [200, 403]);
    assertEquals(await statuses("DELETE"), [200, 403]);
    assertEquals((await proxy.call("/mesh/cache", "t-admin", { method: "POST" })).status, 405);
  });

  it("says that there is no cache", async () => {
    await using proxy = await open({ config: { cache: undefined } });
    for (const method of ["GET", "DELETE"]) {
      const { status, text } = await proxy.call("/mesh/cache", "t-admin", { method });
      assertEquals([status, JSON.parse(text).error.code], [400, "no_cache"]);
    }
    assertEquals(JSON.parse((await proxy.call("/mesh/status")).text).cache, undefined);
  });

  it("says that the storage fails, and nothing of the error of foreign code", async () => {
    await using proxy = await open({ storage: stateIn(createFailing()) });
    for (const method of ["GET", "DELETE"]) {
      const { status, text } = await proxy.call("/mesh/cache", "t-admin", { method });
      assertEquals([status, JSON.parse(text).error.code, text.includes("hush")], [503, "storage_unavailable", false]);
    }
  });

  it("is announced by the status, so that a dashboard reads it", async () => {
    await using proxy = await open();
    assertEquals(JSON.parse((await proxy.call("/mesh/status")).text).cache, true);
  });
});

describe("explain", () => {
  const messages = [{ role: "user", content: "Hi" }];

  it("says whether a request would be looked up, and why not", async () => {
    await using proxy = await open({
      config: { cache: { pools: ["chat"] }, pools: { chat: { models: ["a"] }, other: { models: ["a"] } } },
    });
    const explain = async (body: Record<string, unknown>) => {
      const { cache } = await proxy.mesh.explain({ model: "chat", messages, ...body } as never);
      return cache?.isLookedUp === true ? "yes" : cache?.reason;
    };
    const bodies = {
      yes: [{ temperature: 0 }, { seed: 1 }, { mesh: { cache: "only" } }, { mesh: { cache: { ttl: "10s" } } }],
      not_deterministic: [{}, { temperature: 0.1 }, { temperature: null, seed: null }],
      no_store: [{ temperature: 0, mesh: { cache: "no-store" } }],
      provider_tools: [
        { temperature: 0, web_search_options: {} },
        { temperature: 0, tools: [{ type: "web_search" }], mesh: { cache: { ttl: "10s" } } },
      ],
      stored: [{ temperature: 0, store: true }],
      pool: [{ model: "other", temperature: 0 }],
    };
    for (const [reason, asked] of Object.entries(bodies)) {
      for (const body of asked) assertEquals(await explain(body), reason, JSON.stringify(body));
    }
  });

  it("says nothing of a cache that is not there", async () => {
    await using proxy = await open({ config: { cache: undefined } });
    assertEquals("cache" in await proxy.mesh.explain({ model: "chat", messages } as never), false);
  });
});

describe("metrics of the cache", () => {
  it("count requests by pool and result, and what was saved", async () => {
    await using proxy = await open();
    for (const content of ["one", "one", "two", "one", "one"]) await proxy.ask(content);
    await proxy.ask("never", { temperature: 1 });
    const { text } = await proxy.call("/metrics");
    for (const [result, count] of [["hit", 3], ["miss", 2], ["bypass", 1]] as const) {
      assertStringIncludes(text, `modelmesh_cache_requests_total{pool="chat",result="${result}"} ${count}\n`);
    }
    assertMatch(text, /modelmesh_cache_saved_usd_total\{pool="chat"\} 0\.0006\n/);
    assertMatch(text, /modelmesh_cost_usd_total\{pool="chat",model="a",provider="a",client="admin"\} 0\.0006\n/);
  });

  it("count what failed for embeddings, whose entries are those of their inputs", async () => {
    const [capability, storage] = ["text-embeddings", stateIn(createFailing())];
    await using stage = await operationStage({ a: embeddings() }, { capability, storage, config: { cache: {} } });
    assertEquals((await stage.post("embeddings", { input: ["one", "two"] })).status, 200);
    const metrics = await (await fetch(`${stage.proxy.url}/metrics`)).text();
    assertStringIncludes(metrics, 'modelmesh_cache_requests_total{pool="pool",result="error"} 1\n');
  });

  it("count what failed, and none for a client", async () => {
    await using proxy = await open({ storage: stateIn(createFailing()) });
    await proxy.ask("one");
    const line = 'modelmesh_cache_requests_total{pool="chat",result="error"} 1\n';
    assertStringIncludes((await proxy.call("/metrics")).text, line);
    assertEquals((await proxy.call("/metrics", "t-team")).text.includes("modelmesh_cache_requests_total{"), false);
  });
});
