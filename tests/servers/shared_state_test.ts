/** Two proxies on one real Redis or PostgreSQL: one budget, one set of limits, and one state of breakers. */
import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, it } from "@std/testing/bdd";
import { until } from "../support/patience.ts";
import { describeOnServers, type SharedServer } from "../support/shared_servers.ts";
import { type SharedProxy, startSharedProxies } from "../support/shared_proxies.ts";
import { ok, startUpstream, status } from "../support/upstream.ts";
import { tally } from "../support/_tuned.ts";

let server: SharedServer;

const dollar = { input: 0, output: 0, per_request: 1 };
const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const answer = ok({ text: "hello", usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } });

/** Models of testConfig() with prices. */
function models(names: readonly string[], more: Readonly<Record<string, unknown>> = {}) {
  return Object.fromEntries(
    names.map((name) => [name, { provider: name, capabilities: ["chat-completion"], pricing: dollar, ...more }]),
  );
}

const modelStatus = ({ mesh }: SharedProxy, name: string) => mesh.listModels().find((one) => one.name === name)!.status;

describeOnServers("two proxies on one", (start) => {
  beforeAll(async () => void (server = await start()));
  afterAll(async () => await server[Symbol.asyncDispose]());

  it("spend one daily budget together, to the dollar, also when all ask at once", async () => {
    await using a = await startUpstream(answer);
    const config = { models: models(["a"]), budget: { daily_limit: 20, monthly_limit: 1000 } };
    await using proxies = await startSharedProxies({ attributes: server.storage, upstreams: { a: a.url }, config });
    const results = await Promise.all(times(80).map((index) => proxies[index % 2]!.chat()));
    assertEquals(tally(results.map(({ status, code }) => code ?? status)), { 200: 20, budget_exceeded: 60 });
    assertEquals(a.calls, 20);
  });

  it("spend calendar windows in a time zone and rolling windows together, and know of them after a restart", async () => {
    await using a = await startUpstream(answer);
    const week = { limit: 30, window: "1w", timezone: "Europe/Berlin" };
    const options = (limit: number) => {
      const config = { models: models(["a"]), budget: [week, { limit, window: "rolling 24h" }] };
      return { attributes: server.storage, upstreams: { a: a.url }, config, prefix: "windows" };
    };
    const ask = async (proxies: readonly SharedProxy[]) => {
      const results = await Promise.all(times(40).map((index) => proxies[index % proxies.length]!.chat()));
      return tally(results.map(({ status, code }) => code ?? status));
    };
    {
      await using proxies = await startSharedProxies(options(20));
      assertEquals(await ask(proxies), { 200: 20, budget_exceeded: 20 });
    }
    await using proxies = await startSharedProxies(options(25)); // another limit of the same window
    assertEquals(await ask(proxies), { 200: 5, budget_exceeded: 35 });
    assertEquals(a.calls, 25);
  });

  it("report each step of a budget once, whichever of them sees it first", async () => {
    await using a = await startUpstream(answer);
    const config = { models: models(["a"]), budget: { daily_limit: 10 } };
    await using proxies = await startSharedProxies({ attributes: server.storage, upstreams: { a: a.url }, config });
    for (const index of times(10)) {
      assertEquals((await proxies[index % 2]!.chat()).status, 200);
      await proxies.hear();
    }
    const steps = () =>
      proxies.flatMap(({ records }) =>
        records.flatMap((one) => one.type === "event" && one.event === "budget" ? [one.metadata.step] : [])
      );
    await until(() => steps().includes(1), "the last step is reported");
    assertEquals(steps().toSorted(), [0.5, 0.8, 1]);
  });

  it("go on to models outside a provider's budget, and know of it from each other", async () => {
    await using a = await startUpstream(answer);
    await using b = await startUpstream(answer);
    const config = { models: models(["a", "b"]) };
    const options = {
      attributes: server.storage,
      upstreams: { a: a.url, b: b.url },
      config,
      provider: { budget: { daily_limit: 7 } },
    };
    await using proxies = await startSharedProxies(options);
    const results = await Promise.all(times(14).map((index) => proxies[index % 2]!.chat()));
    assertEquals(tally(results.map(({ status }) => status)), { 200: 14 });
    assertEquals([a.calls, b.calls], [7, 7]);
    assertEquals((await proxies[0]!.chat()).code, "budget_exceeded");
    assertEquals((await proxies[1]!.chat()).code, "budget_exceeded");
  });

  it("release the reservation for a request that cost nothing", async () => {
    await using a = await startUpstream(status(500));
    const config = { models: models(["a"]), budget: { daily_limit: 3 } };
    const pool = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1000 } };
    await using proxies = await startSharedProxies({
      attributes: server.storage,
      upstreams: { a: a.url },
      config,
      pool,
    });
    const failed = await Promise.all(times(20).map((index) => proxies[index % 2]!.chat()));
    assertEquals(failed.every(({ status }) => status !== 200), true);
    a.follow(answer);
    await proxies.hear();
    for (const index of [0, 1, 1]) assertEquals((await proxies[index]!.chat()).status, 200);
    assertEquals((await proxies[0]!.chat()).code, "budget_exceeded");
  });

  it("know what was spent before they started", async () => {
    await using a = await startUpstream(answer);
    const config = { models: models(["a"]), budget: { daily_limit: 3 } };
    const options = { attributes: server.storage, upstreams: { a: a.url }, config, prefix: "restart", count: 1 };
    const [first] = await startSharedProxies(options);
    assertEquals([(await first!.chat()).status, (await first!.chat()).status], [200, 200]);
    await first!.stop();
    await using again = await startSharedProxies(options);
    assertEquals([(await again[0]!.chat()).status, (await again[0]!.chat()).code], [200, "budget_exceeded"]);
  });

  it("do not ask a model as soon as the other puts it into standby, and emit that", async () => {
    await using a = await startUpstream(status(429, { headers: { "retry-after": "60" } }));
    await using b = await startUpstream(answer);
    await using proxies = await startSharedProxies({ attributes: server.storage, upstreams: { a: a.url, b: b.url } });
    const [one, other] = proxies as unknown as [SharedProxy, SharedProxy];
    assertEquals((await one.chat()).model, "b");
    await until(() => modelStatus(other, "a") === "standby");
    assertEquals([(await other.chat()).model, a.calls], ["b", 1]);
    const reported = other.records.find((record) => record.type === "event" && record.event === "deactivation");
    assertEquals(reported?.type === "event" && [reported.model, reported.reason, reported.metadata.shared], [
      "a",
      "rate_limited",
      true,
    ]);
    const endOf = ({ mesh }: SharedProxy) =>
      Date.parse(mesh.poolStatus().chat!.models.find(({ name }) => name === "a")!.retryAt!);
    assertEquals(endOf(one), endOf(other));
  });

  it("activate a model together when an operator of one of them does", async () => {
    await using a = await startUpstream(answer);
    await using proxies = await startSharedProxies({ attributes: server.storage, upstreams: { a: a.url } });
    const [one, other] = proxies as unknown as [SharedProxy, SharedProxy];
    one.mesh.deactivate("a");
    await until(() => modelStatus(other, "a") === "standby");
    other.mesh.activate("a");
    await until(() => modelStatus(one, "a") === "active");
    assertEquals([(await one.chat()).status, (await other.chat()).status], [200, 200]);
  });

  it("inform a proxy that starts later of standbys", async () => {
    await using a = await startUpstream(answer);
    const options = { attributes: server.storage, upstreams: { a: a.url }, prefix: "late", count: 1 };
    await using first = await startSharedProxies(options);
    first[0]!.mesh.deactivate("a");
    await using late = await startSharedProxies(options);
    await until(() => modelStatus(late[0]!, "a") === "standby");
  });

  it("count requests together against a limit between two standbys, and begin anew together", async () => {
    await using a = await startUpstream(answer);
    await using b = await startUpstream(answer);
    const pool = { deactivation: { request_limit: 6 }, recovery: { cooldown: "1s" } };
    const config = { models: models(["a", "b"]), pools: undefined };
    const upstreams = { a: a.url, b: b.url };
    const options = { attributes: server.storage, upstreams, pool, config: { models: config.models } };
    await using proxies = await startSharedProxies(options);
    for (const index of times(6)) {
      await proxies[index % 2]!.chat();
      await proxies.hear();
    }
    assertEquals([a.calls, b.calls], [6, 0]);
    await until(() => proxies.every((proxy) => modelStatus(proxy, "a") === "standby"));
    await proxies.clock.advance(1000);
    await until(() => proxies.every((proxy) => modelStatus(proxy, "a") === "active"));
    for (const index of times(4)) {
      await proxies.hear();
      await proxies[index % 2]!.chat();
    }
    assertEquals(a.calls, 10);
  });

  it("keep to one limit of requests a minute", async () => {
    await using a = await startUpstream(answer);
    await using b = await startUpstream(answer);
    const config = { models: { ...models(["b"]), a: { ...models(["a"]).a, limits: { rpm: 8 } } } };
    const options = { attributes: server.storage, upstreams: { a: a.url, b: b.url }, config, prefix: "rpm" };
    await using proxies = await startSharedProxies(options);
    for (const index of times(16)) {
      assertEquals((await proxies[index % 2]!.chat()).status, 200);
      await proxies.hear();
    }
    assertEquals([a.calls, b.calls], [8, 8]);
    await using late = await startSharedProxies({ ...options, count: 1 });
    assertEquals([(await late[0]!.chat()).model, a.calls], ["b", 8]);
  });
});
