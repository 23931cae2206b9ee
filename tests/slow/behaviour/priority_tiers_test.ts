/** Priority lists are tiers: their models serve before all others, whichever strategy the pool has. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Stage, stage } from "../../support/_failover.ts";
import { tally, tuned } from "../../support/_tuned.ts";
import { ok, status } from "../../support/upstream.ts";

const names = ["paid", "z1", "z2", "z3"];
const cast = Object.fromEntries(names.map((name) => [name, ok({ text: name })]));
const list = ["z1", "z2", "z3"];
const once = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } };

/** The model outside the list is the first, the cheapest, and has all the weight. */
const favoured = {
  paid: { weight: 50, pricing: { input: 0, output: 0 }, limits: { rpm: 10_000 } },
  ...Object.fromEntries(list.map((name) => [name, { pricing: { input: 5, output: 5 }, limits: { rpm: 1_000 } }])),
};

const scenery = (pool: object) => tuned({ models: favoured, pool: { model_priority: list, ...once, ...pool } });

/** Who answers so many requests, each with a session of its own. */
async function served(scene: Stage, count: number): Promise<Record<string, number>> {
  const texts: (string | null | undefined)[] = [];
  for (let turn = 0; turn < count; turn++) texts.push((await scene.ask({ user: `user-${turn}` })).text);
  return tally(texts);
}

const balanced = [
  ["round-robin", {}],
  ["load-balanced", { balance_mode: "absolute" }],
  ["load-balanced", { balance_mode: "relative" }],
] as const;
const strategies = [
  "stick-until-failure",
  "priority-selection",
  "cost-first",
  "latency-first",
  "rate-limit-aware",
  "session-stickiness",
] as const;

describe("A balancing strategy with model_priority", () => {
  for (const [strategy, more] of balanced) {
    it(`shares the requests out within the list: ${strategy} ${Object.values(more)}`, async () => {
      await using scene = await stage(cast, scenery({ strategy, ...more }));
      assertEquals(await served(scene, 9), { z1: 3, z2: 3, z3: 3 });
      await using parallel = await stage(cast, scenery({ strategy, ...more }));
      const answers = await Promise.all(Array.from({ length: 9 }, () => parallel.ask()));
      assertEquals(tally(answers.map(({ text }) => text)), { z1: 3, z2: 3, z3: 3 });
      const streamed = await Promise.all(Array.from({ length: 3 }, () => parallel.askStream()));
      assertEquals(streamed.some(({ text }) => text === "paid"), false);
    });
  }

  it("balances among the list's models that are active, and among the others once none is", async () => {
    const broken = { ...cast, z1: status(500), z2: [status(500), ok({ text: "z2" })], z3: status(500) };
    await using scene = await stage({ ...broken, other: ok({ text: "other" }) }, {
      pool: { model_priority: list, strategy: "round-robin", ...once },
    });
    await scene.ask(); // each model of the list fails, and goes into standby
    assertEquals(await served(scene, 4), { paid: 2, other: 2 });
    await scene.clock.advance(60_000);
    assertEquals((await served(scene, 3)).z2, 3); // z1 and z3 fail their trial requests
  });

  it("goes by provider_priority likewise, and by both lists together", async () => {
    const pool = { strategy: "round-robin", model_priority: undefined, provider_priority: ["z2", "z3"] };
    await using scene = await stage(cast, scenery(pool));
    assertEquals(await served(scene, 4), { z2: 2, z3: 2 });
    await using both = await stage(cast, scenery({ ...pool, model_priority: ["z1"] }));
    assertEquals(await served(both, 6), { z1: 2, z2: 2, z3: 2 });
  });
});

describe("Under every strategy, what is in no priority list", () => {
  for (const strategy of strategies) {
    it(`serves only while none of the list can, ${strategy}`, async () => {
      const upstreams = { ...cast, z1: [status(500), ok({ text: "z1" })], z2: status(500), z3: status(500) };
      await using healthy = await stage(cast, scenery({ strategy }));
      assertEquals((await served(healthy, 12)).paid, undefined);
      await using scene = await stage(upstreams, scenery({ strategy }));
      assertEquals((await scene.ask()).text, "paid");
      assertEquals(await served(scene, 3), { paid: 3 });
      await scene.clock.advance(60_000);
      assertEquals(await served(scene, 4), { z1: 4 });
    });
  }

  it("is selected by the fallback strategy, else by the pool's own", async () => {
    const upstreams = { ...cast, z1: status(500), z2: status(500), z3: status(500), other: ok({ text: "other" }) };
    const pool = { model_priority: list, ...once };
    await using own = await stage(upstreams, { pool: { ...pool, strategy: "stick-until-failure" } });
    assertEquals(await served(own, 4), { paid: 4 });
    await using fallback = await stage(upstreams, {
      pool: { ...pool, strategy: "stick-until-failure", fallback_strategy: "round-robin" },
    });
    await fallback.ask();
    assertEquals(await served(fallback, 4), { paid: 2, other: 2 });
    await using sticky = await stage(
      { ...upstreams, paid: [ok({ text: "paid" }), status(500), ok({ text: "paid" })] },
      {
        pool: { ...pool, strategy: "round-robin", fallback_strategy: "stick-until-failure" },
      },
    );
    await sticky.ask();
    await sticky.ask();
    assertEquals(await served(sticky, 3), { other: 3 });
  });

  it("is left with the recovery of the list, which is a rotation of its own", async () => {
    const upstreams = { z1: [status(500), ok({ text: "z1" })], paid: ok({ text: "paid" }) };
    await using scene = await stage(upstreams, {
      pool: { strategy: "stick-until-failure", model_priority: ["z1"], ...once },
    });
    await scene.askTimes(2);
    await scene.clock.advance(60_000);
    await scene.askTimes(2);
    assertEquals(scene.events, [
      "deactivation z1 retry_limit",
      "rotation z1>paid server",
      "recovery z1 retry_limit",
      "rotation paid>z1 recovery",
    ]);
  });

  it("comes last in explain(), whatever its score", async () => {
    await using scene = await stage(cast, scenery({ strategy: "cost-first" }));
    const { order } = await scene.proxy.mesh.explain({ model: "chat", messages: [{ role: "user", content: "Hi" }] });
    assertEquals(order.map(({ model }) => model), ["z1", "z2", "z3", "paid"]);
    assert(order.at(-1)!.score > order[0]!.score);
  });
});
