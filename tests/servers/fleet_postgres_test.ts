/** Several proxies on one real PostgreSQL, one of which is killed, or which dies itself: no dollar is lost or spent twice. */
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { spawnKillableProxy } from "../support/_killable_proxy.ts";
import { makeFolder, runProgram } from "../support/_library.ts";
import { tally } from "../support/_tuned.ts";
import { until } from "../support/patience.ts";
import { hasPostgres, TestPostgres } from "../support/postgres.ts";
import { testConfig } from "../support/proxy.ts";
import { type ChatResult, type SharedProxies, startSharedProxies } from "../support/shared_proxies.ts";
import { Gate, ok, startUpstream } from "../support/upstream.ts";

const answer = ok({ text: "hello", usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } });
const pricing = { input: 0, output: 0, per_request: 1 };
const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const models = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { provider: name, capabilities: ["chat-completion"], pricing }]));

let server: TestPostgres;

/** What is counted as spent of the budget of all, dollars. */
function readSpent(prefix: string): number {
  const sums = server.sql(`SELECT sum(value) FROM modelmesh."${prefix}sums" WHERE key LIKE 'budget all day % spent'`);
  return Number(sums) / 1e9;
}

/** Asks all proxies without a break until it is stopped. */
function load(proxies: SharedProxies): () => Promise<ChatResult[]> {
  let isOver = false;
  const results: ChatResult[] = [];
  const loops = times(8).map(async (index) => {
    while (!isOver) results.push(await proxies[index % proxies.length]!.chat());
  });
  return async () => {
    isOver = true;
    await Promise.all(loops);
    return results;
  };
}

async function chat(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] }),
  });
  const body = await response.json();
  return response.ok ? "served" : String(body.error.code);
}

(hasPostgres ? describe : describe.skip)("a fleet on one PostgreSQL", () => {
  beforeAll(async () => void (server = await TestPostgres.start()));
  afterAll(() => server[Symbol.asyncDispose]());

  for (const count of [2, 4]) {
    it(`of ${count} proxies spends the budgets of all, a pool and a provider to the dollar, 100 calls at once`, async () => {
      await using a = await startUpstream(answer);
      await using b = await startUpstream(answer);
      await using proxies = await startSharedProxies({
        attributes: server.storage,
        count,
        upstreams: { a: a.url, b: b.url },
        provider: (name) => name === "a" ? { budget: { daily_limit: 10 } } : {},
        pool: { budget: { daily_limit: 25 } },
        config: { models: models(["a", "b"]), budget: { daily_limit: 30 } },
      });
      const results = await Promise.all(times(100).map((index) => proxies[index % count]!.chat()));
      assertEquals(tally(results.map(({ status, code }) => code ?? status)), { 200: 25, budget_exceeded: 75 });
      assertEquals([a.calls, b.calls], [10, 15]);
    });
  }

  it("counts every call exactly once when PostgreSQL dies and comes back under load, and serves all", async () => {
    await using a = await startUpstream(answer);
    const config = { models: models(["a"]), budget: { daily_limit: 100_000 } };
    const options = { attributes: server.storage, prefix: "died_", upstreams: { a: a.url }, config };
    await using proxies = await startSharedProxies(options);
    const stop = load(proxies);
    const serve = (more: number, before = a.calls) => until(() => a.calls >= before + more, `${more} more are served`);
    for (let turn = 0; turn < 2; turn++) {
      await serve(50);
      await server.kill();
      await serve(50);
      await server.start();
      await until(async () => {
        await proxies.hear();
        return proxies.every(({ traces }) => traces.filter((trace) => trace.includes("available again")).length > turn);
      }, "all use it again");
    }
    await serve(50);
    const results = await stop();
    await proxies.hear();
    assertEquals(results.filter(({ status }) => status !== 200), []);
    assertEquals([results.length, readSpent("died_")], [a.calls, a.calls]);
  });

  it("has programs that end with 0 after their work, although they do not close their clients", async () => {
    await using a = await startUpstream(answer);
    await using folder = await makeFolder();
    const config = { models: models(["a"]), budget: { daily_limit: 10 }, storage: server.storage };
    const source = `
      import { create } from LIBRARY;
      const client = create({ config: ${JSON.stringify(testConfig({ upstreams: { a: a.url }, config }))} });
      await client.ready();
      const completion = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
      console.log(completion.choices[0].message.content);`;
    assertEquals(await runProgram(source, folder, {}), { code: 0, stdout: "hello\n", stderr: "" });
  });

  it("gets back what a proxy had reserved that is killed, and nothing else", async () => {
    const gate = new Gate();
    let isHeld = true;
    await using a = await startUpstream(() =>
      isHeld ? { play: (exchange) => gate.pass().then(() => answer.play(exchange)) } : answer
    );
    const storage = { ...server.storage, prefix: "killed_" };
    const config = testConfig({
      upstreams: { a: a.url },
      config: { models: models(["a"]), budget: { daily_limit: 10 }, storage },
    });
    const [one, other] = [await spawnKillableProxy(config), await spawnKillableProxy(config)];
    const lost = Promise.allSettled(times(4).map(() => chat(one.url)));
    await until(() => a.calls === 4, "four calls of the first proxy are under way");
    isHeld = false;
    assertEquals(tally(await Promise.all(times(10).map(() => chat(other.url)))), { served: 6, budget_exceeded: 4 });
    await one.kill();
    gate.openAll();
    await lost;
    server.sql(`UPDATE modelmesh.killed_processes SET expires_at = 0`); // the lease of the one that lives is renewed at once
    await until(async () => (await chat(other.url)) === "served", "its reservations have ended");
    assertEquals(tally(await Promise.all(times(10).map(() => chat(other.url)))), { served: 3, budget_exceeded: 7 });
    await until(() => readSpent("killed_") === 10, "ten dollars are spent, and none is reserved");
    await other.kill();
    assert(server.sql("SELECT coalesce(sum(amount), 0) FROM modelmesh.killed_leases WHERE amount < 0") === "0");
  });
});
