/** Stored responses of several proxies on one Redis. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type RunningProxy, serve } from "../../proxy.ts";
import { converseOverKills } from "../support/_killable_proxy.ts";
import { parseEvents } from "../support/_responses.ts";
import { readEvents, type ResponsesCaller, responsesCaller, streamed } from "../support/_stored_responses.ts";
import { startThreeVendors } from "../support/_three_vendors.ts";
import { until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { Gate, hang, respond, type Script, startUpstream, stream, type Upstream } from "../support/upstream.ts";

const state = { proxy: { responses: { state: true } } };

interface Stage {
  readonly one: ResponsesCaller;
  readonly other: ResponsesCaller;
  readonly urls: readonly string[];
  readonly upstream: Upstream;
  readonly redis: TestRedis;
}

/** Runs a test with two proxies. */
async function withProxies(script: Script, test: (stage: Stage) => Promise<void>): Promise<void> {
  await using redis = await TestRedis.start();
  await using upstream = await startUpstream(script);
  const storage = { connector: "redis.redis.v1", url: redis.url, prefix: crypto.randomUUID() };
  const config = testConfig({ upstreams: { one: upstream.url }, config: { ...state, storage } });
  const proxies: RunningProxy[] = [await serve({ config, port: 0 }), await serve({ config, port: 0 })];
  const [one, other] = proxies.map(({ url }) => responsesCaller(url));
  try {
    await test({ one: one!, other: other!, urls: proxies.map(({ url }) => url), upstream, redis });
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  }
}

(hasRedis ? describe : describe.skip)("Stored responses on a Redis", () => {
  it("are continued at providers of three APIs, with a tool loop, although each proxy is killed after its turn", async () => {
    await using redis = await TestRedis.start();
    await using vendors = await startThreeVendors();
    const config = vendors.config({ connector: "redis.redis.v1", url: redis.url });
    await converseOverKills(vendors, config);
  });

  it("are those of all proxies, in concurrent turns as well", async () => {
    await withProxies(respond({ text: "Hi", pieces: ["Hi"] }), async ({ one, other, upstream }) => {
      const { text } = await one.create({ input: "One", stream: true });
      const { id } = parseEvents(text).at(-1)!.response as { id: string };
      const turns = await Promise.all(
        Array.from(
          { length: 10 },
          (_, turn) => (turn % 2 ? one : other).create({ input: `Turn ${turn}`, previous_response_id: id }),
        ),
      );
      assertEquals(turns.map(({ status }) => status), Array(10).fill(200));
      for (const request of upstream.requests.slice(1)) {
        const { messages } = request.json();
        assertEquals(messages.slice(0, 2).map(({ content }: { content: string }) => content), ["One", "Hi"]);
      }
      assertEquals((await other.call("DELETE", id)).status, 200);
      assertEquals((await one.call("GET", id)).status, 404);
    });
  });

  it("are followed, and cancelled, at the other proxy", async () => {
    const gate = new Gate();
    const script = [stream({ pieces: ["a", "b", "c"], gate }), hang()];
    await withProxies(script, async ({ one, other, upstream, urls }) => {
      gate.open(3);
      const background = { input: "One", background: true };
      const first = await readEvents(urls[0]!, "", { init: streamed(background), count: 4 });
      const { id } = first[0]!.response as { id: string };
      const followed = urls.map((url) => readEvents(url, `/${id}?stream=true&starting_after=2`));
      gate.openAll();
      const [here, there] = await Promise.all(followed);
      assertEquals(there, here);
      assertEquals(await readEvents(urls[1]!, `/${id}?stream=true`), [...first.slice(0, 3), ...here!]);
      const { json: { id: next } } = await one.create({ input: "Two", background: true });
      const { closed } = await upstream.received(2);
      assertEquals((await other.call("POST", `${next}/cancel`)).json.status, "cancelled");
      await closed;
      assertEquals((await one.call("GET", next)).json.status, "cancelled");
    });
  });

  it("are served while Redis is away, and unknown then", async () => {
    await withProxies(respond({ text: "Hi", pieces: ["Hi"] }), async ({ one, redis }) => {
      const { text } = await one.create({ input: "One", stream: true });
      const { id } = parseEvents(text).at(-1)!.response as { id: string };
      await redis.kill();
      const { status, json } = await one.create({ input: "Two" });
      assertEquals([status, json.status, json.store], [200, "completed", false]);
      assertEquals((await one.call("GET", id)).json.error.code, "storage_unavailable");
      assertEquals((await one.create({ input: "Three", background: true })).status, 503);
      await redis.start();
      await until(async () => (await one.create({ input: "Four" })).json.store === true, "responses are stored again");
      assertEquals((await one.call("GET", id)).status, 404);
    });
  });
});
