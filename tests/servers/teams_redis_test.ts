/** Limits of clients, teams, tags and end users at two proxies on one Redis. */
import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { getEngine } from "../../src/engine/get_engine.ts";
import { behind } from "../support/_failover.ts";
import { goodBody } from "../support/_surface.ts";
import { tally } from "../support/_tuned.ts";
import { until } from "../support/patience.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { startSharedProxies } from "../support/shared_proxies.ts";
import { Gate, ok, respond, type Script, startUpstream } from "../support/upstream.ts";

let redis: TestRedis;
const token = "token-of-the-app-0123456789";
const dollar = { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } };
const daily = (daily_limit: number) => ({ budget: { daily_limit } });

/** Two proxies with a client of the team `red`, and what asks them in turns. */
async function startTeam(behaviour: Script, config: Readonly<Record<string, unknown>>, client: object = {}) {
  const a = await startUpstream(behaviour);
  const proxies = await startSharedProxies({
    redis,
    upstreams: { a: a.url },
    config: {
      models: { a: dollar },
      teams: { red: {} },
      proxy: { auth: { tokens: [{ token, name: "app", team: "red", ...client }] } },
      ...config,
    },
  });
  const ask = async (index: number, user = "eve", tag = "beta") => {
    const response = await fetch(`${proxies[index % 2]!.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "x-mesh-tags": tag },
      body: JSON.stringify({ ...goodBody, user }),
    });
    const { error } = await response.json();
    return error?.code ?? response.status;
  };
  return {
    upstream: a,
    proxies,
    ask,
    atOnce: async (count: number) => tally(await Promise.all(Array.from({ length: count }, (_, index) => ask(index)))),
    async [Symbol.asyncDispose]() {
      await proxies[Symbol.asyncDispose]();
      await a[Symbol.asyncDispose]();
    },
  };
}

(hasRedis ? describe : describe.skip)("Limits of client, team, tag and end user at two proxies on one Redis", () => {
  beforeAll(async () => void (redis = await TestRedis.start()));
  afterAll(() => redis[Symbol.asyncDispose]());

  for (const tightest of ["client", "team", "tag", "user"]) {
    it(`of money: 100 requests at once spend that of the ${tightest} to the dollar, and reserve nothing else`, async () => {
      const limit = (level: string) => daily(level === tightest ? 7 : 50);
      await using team = await startTeam(respond(), {
        teams: { red: limit("team") },
        tags: { beta: limit("tag") },
        users: limit("user"),
      }, limit("client"));
      assertEquals(await team.atOnce(100), { 200: 7, budget_exceeded: 93 });
      assertEquals(team.upstream.calls, 7);
      await team.proxies.hear();
      for (const { mesh } of team.proxies) {
        const sums = getEngine(mesh).listBudgets().map(({ scope, spent, reserved }) => [scope, spent / 1e9, reserved]);
        assertEquals(sums.toSorted(), ["client", "tag", "team", "user"].map((scope) => [scope, 7, 0]));
      }
    });
  }

  it("of requests a minute: what one of them denies is counted by none", async () => {
    await using team = await startTeam(respond(), { teams: { red: { rpm: 9 } }, users: { rpm: 4 } });
    assertEquals(await team.atOnce(20), { 200: 4, rate_limit_exceeded: 16 });
    const others = await Promise.all(Array.from({ length: 12 }, (_, index) => team.ask(index, `user ${index}`)));
    assertEquals(tally(others), { 200: 5, rate_limit_exceeded: 7 });
  });

  it("of requests at once: a place is free again, at both proxies, when the response has ended", async () => {
    const gate = new Gate();
    await using team = await startTeam(behind(gate, ok()), { teams: { red: { concurrent: 3 } } });
    const asked = Array.from({ length: 20 }, (_, index) => team.ask(index));
    let ended = 0;
    for (const answered of asked) answered.then(() => ended++).catch(() => {});
    await gate.reached(3);
    await until(() => ended === 17, () => `${ended} ended`);
    gate.openAll();
    assertEquals(tally(await Promise.all(asked)), { 200: 3, rate_limit_exceeded: 17 });
    await team.proxies.hear();
    assertEquals([await team.ask(0), await team.ask(1)], [200, 200]);
  });
});
