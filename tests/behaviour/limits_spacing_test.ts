/** The operator's own wishes for a model, `rate_limit.min_delta` and `rate_limit.max_rpm`: rotation without a state change. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock } from "../../src/runtime/test.ts";
import { breathe, eveningClock, soon, type Stage, stage } from "../support/_failover.ts";
import { tally } from "../support/_tuned.ts";
import { ok, status } from "../support/upstream.ts";

const a = ok({ text: "from a" });
const b = ok({ text: "from b" });
const texts = async (scene: Stage, count: number) => (await scene.askTimes(count)).map(({ text }) => text);

function assertUnmoved(scene: Stage): void {
  assertEquals(scene.events, []);
  assertEquals(new Set(Object.values(scene.states())), new Set(["active"]));
}

describe("rate_limit.min_delta", () => {
  const spaced = { pool: { rate_limit: { min_delta: "5s" } } };

  it("sends what comes too soon to the next model", async () => {
    await using scene = await stage({ a, b }, spaced);
    assertEquals(await texts(scene, 2), ["from a", "from b"]);
    await scene.clock.advance(4_999);
    assertEquals(scene.clock.sleeps, []);
    await scene.clock.advance(1);
    assertEquals(await texts(scene, 1), ["from a"]);
    assertUnmoved(scene);
  });

  it("waits for the first that is free when it is too soon for all", async () => {
    await using scene = await stage({ a, b }, spaced);
    await scene.ask();
    await scene.clock.advance(2_000);
    await scene.ask();
    assertEquals(await texts(scene, 1), ["from a"]);
    assertEquals(scene.clock.sleeps, [3_000]);
    assertUnmoved(scene);
  });

  it("spaces out requests that come at once to an only model, each alone", async () => {
    await using scene = await stage({ a }, {
      ...spaced,
      clock: fakeClock(),
      pool: { rate_limit: { min_delta: "1s" } },
    });
    const answers = Array.from({ length: 5 }, () => scene.ask());
    await scene.received("a", 1);
    for (let number = 2; number <= 5; number++) {
      await scene.clock.advance(999);
      await breathe();
      assertEquals(scene.calls, { a: number - 1 });
      await scene.clock.advance(1);
      await scene.received("a", number);
      await breathe();
      assertEquals(scene.calls, { a: number });
    }
    assertEquals((await soon(Promise.all(answers))).map(({ status }) => status), Array(5).fill(200));
    assertUnmoved(scene);
  });

  it("holds for the tries of one request too", async () => {
    const retry = { backoff: "fixed", initial_delay: "100ms" };
    const clock = eveningClock();
    const times: number[] = [];
    const script = () => {
      times.push(clock.now());
      return status(500);
    };
    await using scene = await stage({ a: script }, { clock, pool: { rate_limit: { min_delta: "2s" }, retry } });
    await scene.ask();
    const gaps = times.slice(1).map((time, place) => time - times[place]!);
    assertEquals([times.length, gaps.every((gap) => gap >= 2_000)], [3, true], String(gaps));
  });

  it("is not waited for when that takes longer than max_delay", async () => {
    const pool = { rate_limit: { min_delta: "20s" }, retry: { max_delay: "10s" } };
    await using scene = await stage({ a }, { pool });
    await scene.ask();
    const { status: code, error, headers } = await scene.ask();
    assertEquals([code, error?.code, headers.get("retry-after")], [429, "rate_limit_exceeded", "20"]);
    assertEquals(scene.clock.sleeps, []);
    assertUnmoved(scene);
  });

  it("is not waited for beyond the request's deadline", async () => {
    await using scene = await stage({ a }, spaced);
    await scene.ask();
    const { status: code } = await scene.ask({ mesh: { deadline: "3s" } });
    assertEquals(code, 429);
    assertEquals([scene.calls, scene.clock.sleeps], [{ a: 1 }, []]);
  });

  for (const strategy of ["round-robin", "stick-until-failure", "cost-first", "session-stickiness"]) {
    it(`holds under ${strategy}`, async () => {
      await using scene = await stage({ a, b }, { pool: { ...spaced.pool, strategy, model_priority: undefined } });
      await Promise.all(Array.from({ length: 2 }, () => scene.ask({ user: "one" })));
      assertEquals(scene.calls, { a: 1, b: 1 });
    });
  }
});

describe("rate_limit.max_rpm", () => {
  const wished = { pool: { rate_limit: { max_rpm: 3 } } };

  it("sends what is over it to the next model, for a minute", async () => {
    await using scene = await stage({ a, b }, wished);
    assertEquals(tally(await texts(scene, 6)), { "from a": 3, "from b": 3 });
    assertEquals(scene.calls, { a: 3, b: 3 });
    await scene.clock.advance(61_000);
    assertEquals(await texts(scene, 1), ["from a"]);
    assertUnmoved(scene);
  });

  it("is not overrun by requests at once while another model is free", async () => {
    await using scene = await stage({ a, b }, { pool: { ...wished.pool, strategy: "stick-until-failure" } });
    await Promise.all(Array.from({ length: 6 }, () => scene.ask()));
    assertEquals(scene.calls, { a: 3, b: 3 });
  });

  it("gives way when all models are over it", async () => {
    await using scene = await stage({ a, b }, wished);
    const answers = await scene.askTimes(10);
    assertEquals(tally(answers.map(({ status }) => status)), { 200: 10 });
    assertUnmoved(scene);
  });

  it("does not keep an only model from being tried again", async () => {
    await using scene = await stage({ a: [status(500), a] }, { pool: { rate_limit: { max_rpm: 1 } } });
    const { status: code, route } = await scene.ask();
    assertEquals([code, route], [200, "a 2/0"]);
  });

  it("gives way when there is one model only", async () => {
    await using scene = await stage({ a }, wished);
    const answers = await Promise.all(Array.from({ length: 10 }, () => scene.ask()));
    assertEquals(tally(answers.map(({ status }) => status)), { 200: 10 });
    assert(scene.clock.sleeps.length === 0);
    assertUnmoved(scene);
  });
});
