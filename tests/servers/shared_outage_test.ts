/** Redis is killed, comes back, hangs, or was never there: requests go on. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, describe, it } from "@std/testing/bdd";
import { ConnectorError, ModelMesh, openStorage, redisStorage, stateIn } from "../../mod.ts";
import { testConfig } from "../support/proxy.ts";
import { becomes, until } from "../support/patience.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import {
  type ChatResult,
  type SharedProxies,
  type SharedProxy,
  startSharedProxies,
} from "../support/shared_proxies.ts";
import { ok, startUpstream, type Upstream } from "../support/upstream.ts";

const answer = ok({ text: "hello", usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } });
const pricing = { input: 0, output: 0, per_request: 1 };
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const modelStatus = ({ mesh }: SharedProxy, name: string) => mesh.listModels().find((one) => one.name === name)!.status;

function start(
  redis: TestRedis,
  a: Upstream,
  more: { dollars?: number; onUnavailable?: "closed"; prefix?: string } = {},
) {
  const { dollars = 100_000, ...options } = more;
  const models = { a: { provider: "a", capabilities: ["chat-completion"], pricing } };
  const config = { models, budget: { daily_limit: dollars } };
  return startSharedProxies({ redis, upstreams: { a: a.url }, config, ...options });
}

/** Asks all proxies without a break until it is stopped; gives everything that came back. */
function load(proxies: readonly SharedProxy[], streams = 8): () => Promise<ChatResult[]> {
  let isOver = false;
  const results: ChatResult[] = [];
  const loops = Array.from({ length: streams }, async (_, index) => {
    while (!isOver) results.push(await proxies[index % proxies.length]!.chat());
  });
  return async () => {
    isOver = true;
    await Promise.all(loops);
    return results;
  };
}

/** What the store knows to be spent today, dollars. */
async function spentIn(redis: TestRedis, prefix: string, { clock }: SharedProxies): Promise<number> {
  const storage = await openStorage({ connector: "redis.redis.v1", url: redis.url, prefix }, { clock });
  const key = `budget all day ${new Date(clock.now()).toISOString().slice(0, 10)} spent`;
  const [nano] = await storage.shared!.add([{ key, by: 0, expiresAt: clock.now() + 1e6 }]);
  await storage.close?.();
  return nano! / 1e9;
}

/** Waits until so many more requests have reached a provider. */
function served(upstream: Upstream, count: number): Promise<void> {
  const before = upstream.calls;
  return until(() => upstream.calls >= before + count, `${count} more requests are served`);
}

/** Whether all have said so of the store: that it is `away`, that it is `back`. */
function allSay(proxies: SharedProxies, what: "unavailable" | "available again"): boolean {
  return proxies.every(({ traces }) =>
    traces.findLast((trace) => trace.includes("storage is"))?.includes(`storage is ${what}`) ?? false
  );
}

/** Lets time pass until all have noticed that the store is `unavailable`, or `available again`. */
function notice(proxies: SharedProxies, what: "unavailable" | "available again"): Promise<void> {
  return until(async () => {
    if (!allSay(proxies, what)) await proxies.hear();
    return allSay(proxies, what);
  }, `all say that the store is ${what}`);
}

(hasRedis ? describe : describe.skip)("two proxies whose Redis", () => {
  afterAll(() => pause(600)); // a client that is closed between two tries to connect ends after its pause

  it("is killed and started again under load lose no request, and count on", async () => {
    await using redis = await TestRedis.start();
    await using a = await startUpstream(answer);
    await using proxies = await start(redis, a, { prefix: "killed" });
    const stop = load(proxies);
    await served(a, 50);
    await redis.kill();
    await until(() => allSay(proxies, "unavailable"));
    await served(a, 50);
    const before = a.calls;
    await redis.start();
    await notice(proxies, "available again");
    await served(a, 50);
    const results = await stop();
    assertEquals(results.filter(({ status }) => status !== 200), []);
    await proxies.hear();
    const spent = await spentIn(redis, "killed", proxies);
    assert(spent > before && spent <= a.calls, `${spent} of ${a.calls} are known, ${before} were before`);
    for (const { traces } of proxies) {
      assertEquals(traces.map((trace) => trace.split(":")[0]), [
        "warning The shared storage is unavailable",
        "info The shared storage is available again",
      ]);
    }
  });

  it("hangs for a while lose no request, wait for it only once, and add exactly what they counted", async () => {
    await using redis = await TestRedis.start();
    await using a = await startUpstream(answer);
    await using proxies = await start(redis, a, { prefix: "hung" });
    const stop = load(proxies);
    await served(a, 50);
    redis.freeze();
    await proxies.clock.advance(700);
    await until(() => allSay(proxies, "unavailable"));
    await served(a, 50); // no time passes: no request waits for it
    redis.thaw();
    await notice(proxies, "available again");
    await served(a, 50);
    const results = await stop();
    assertEquals(results.filter(({ status }) => status !== 200), []);
    await proxies.hear();
    assertEquals(await spentIn(redis, "hung", proxies), a.calls);
  });

  it("was unavailable exchange upon its recovery what they reserved meanwhile", async () => {
    await using redis = await TestRedis.start();
    await using a = await startUpstream(answer);
    await using proxies = await start(redis, a);
    const [one, other] = proxies as unknown as [SharedProxy, SharedProxy];
    await redis.kill();
    one.mesh.deactivate("a");
    await notice(proxies, "unavailable");
    assertEquals(modelStatus(other, "a"), "active");
    await redis.start();
    await notice(proxies, "available again");
    await becomes(() => modelStatus(other, "a"), "standby");
  });

  it("is away keep to what each of them knows of the budget", async () => {
    await using redis = await TestRedis.start();
    await using a = await startUpstream(answer);
    await using proxies = await start(redis, a, { dollars: 10 });
    for (const index of [0, 1, 0, 1]) await proxies[index]!.chat();
    await proxies.hear();
    await redis.kill();
    const results: ChatResult[] = [];
    for (let index = 0; index < 20; index++) results.push(await proxies[0]!.chat());
    assertEquals(results.map(({ status }) => status).filter((status) => status === 200).length, 6);
    assertEquals(results.at(-1)!.code, "budget_exceeded");
  });

  it("is unavailable refuse requests under a budget where they are configured to, and serve again when it has recovered", async () => {
    await using redis = await TestRedis.start();
    await using a = await startUpstream(answer);
    await using proxies = await start(redis, a, { onUnavailable: "closed" });
    assertEquals((await proxies[0]!.chat()).status, 200);
    await redis.kill();
    const { status, code } = await proxies[0]!.chat();
    assertEquals([status, code, a.calls], [503, "no_active_model", 1]);
    await notice(proxies, "unavailable"); // the other one, too: else it may never miss the store
    await redis.start();
    await notice(proxies, "available again");
    assertEquals((await proxies[0]!.chat()).status, 200);
  });

  it("is not there yet start with a warning, and share once it is", async () => {
    await using redis = await TestRedis.start();
    await redis.kill();
    await using a = await startUpstream(answer);
    await using proxies = await start(redis, a, { dollars: 5 });
    assertEquals((await proxies[0]!.chat()).status, 200);
    assert(proxies[0]!.traces.some((trace) => trace.startsWith("warning The shared storage is unavailable")));
    await redis.start();
    await notice(proxies, "available again");
    const results: ChatResult[] = [];
    for (let index = 0; index < 10; index++) results.push(await proxies[index % 2]!.chat());
    assertEquals([results.filter(({ status }) => status === 200).length, a.calls], [4, 5]);
  });

  it("is not there do not start where they are configured to refuse", async () => {
    await using redis = await TestRedis.start();
    await redis.kill();
    const storage = redisStorage({ url: redis.url });
    const mesh = new ModelMesh({ storage: stateIn(storage, { onUnavailable: "closed" }) });
    await assertRejects(
      () => mesh.initialize(testConfig({ upstreams: { a: "http://127.0.0.1:1/v1" } })),
      ConnectorError,
      "cannot reach Redis",
    );
    await mesh.close().catch(() => {}); // the storage is away for it, too
    await storage.close?.();
  });
});
