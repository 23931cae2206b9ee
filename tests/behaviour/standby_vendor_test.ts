/**
 * What a provider says of itself: for how long it takes no requests, that a quota is used up, that it has no such
 * model. It holds in every pool.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { behind, type Cast, severalModels, soon, type Stage, stage } from "../support/_failover.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { type Behaviour, Gate, ok, status } from "../support/upstream.ts";

const b = ok({ text: "from b" });
const rests = (seconds: number) => status(429, { headers: { "retry-after": String(seconds) } });
const noQuota = status(429, { error: { code: "insufficient_quota" } });
const noModel = status(404, { error: { code: "model_not_found" } });

/** Two pools over the same models: `chat` and `other`. */
function twoPools(cast: Cast): Promise<Stage> {
  return stage(cast, (urls) => {
    const { config } = severalModels(Object.fromEntries(Object.keys(cast).map((name) => [name, name])))(urls);
    const { chat } = config!.pools as { chat: object };
    const pool = { ...chat, retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } };
    return { config: { ...config, pools: { chat: pool, other: pool } } };
  });
}

describe("a rate-limited model", () => {
  it("is in standby until the time the provider named, then serves again", async () => {
    await using scene = await stage({ a: [rests(90), ok({ text: "from a" })], b });
    assertEquals((await scene.ask()).text, "from b");
    await scene.clock.advance(89_999);
    assertEquals([(await scene.ask()).text, scene.calls.a], ["from b", 1]);
    await scene.clock.advance(1);
    assertEquals(scene.events, ["deactivation a rate_limited", "rotation a>b rate_limited", "recovery a rate_limited"]);
    assertEquals([(await scene.ask()).text, scene.states().a], ["from a", "active"]);
  });

  it("is not blamed: no such standby counts as failure, and none makes the next one longer", async () => {
    await using scene = await stage({ a: rests(90), b }, { pool: { deactivation: { retry_limit: 1 } } });
    for (let count = 0; count < 4; count++) {
      await scene.ask();
      assertEquals(scene.states().a, "rate_limited for 90s");
      await scene.clock.advance(90_000);
    }
  });

  it("is in standby longer when a later hint says so, and never shorter", async () => {
    const gates = [40, 30, 70].map((seconds) => ({ seconds, gate: new Gate() }));
    const script = gates.map(({ seconds, gate }) => behind(gate, rests(seconds)));
    await using scene = await stage({ a: script, b });
    const answers = gates.map(() => scene.ask());
    await scene.received("a", 3);
    const seen: (string | undefined)[] = [];
    for (const { gate } of gates) {
      gate.open();
      while (scene.upstreams.b!.calls === seen.length) await soon(scene.upstreams.b!.received(seen.length + 1));
      seen.push(scene.states().a);
    }
    await Promise.all(answers);
    assertEquals(seen, ["rate_limited for 40s", "rate_limited for 40s", "rate_limited for 70s"]);
    assertEquals(scene.events.filter((event) => event.startsWith("deactivation")), ["deactivation a rate_limited"]);
    await scene.clock.advance(40_000);
    assertEquals(scene.states().a, "rate_limited for 30s");
    await scene.clock.advance(30_000);
    assertEquals(scene.events.at(-1), "recovery a rate_limited");
  });

  it("is in standby in every pool and by its own name, but its provider's other models are not", async () => {
    const config = severalModels({ a1: "a", a2: "a", b: "b" });
    await using scene = await stage({ a: [rests(30), ok({ text: "from a2" })], b }, config);
    assertEquals((await scene.ask()).route, "a2 2/1");
    const byName = await scene.ask({ model: "a1" });
    assertEquals([byName.status, byName.error?.code, byName.headers.get("retry-after")], [
      429,
      "rate_limit_exceeded",
      "30",
    ]);
    assertEquals(scene.states(), { a1: "rate_limited for 30s", a2: "active", b: "active" });
  });

  it("a success in one pool does not end the standby in another", async () => {
    await using scene = await twoPools({ a: rests(30), b });
    await scene.ask();
    await scene.ask({ model: "other" });
    assertEquals(scene.calls, { a: 1, b: 2 });
    assertEquals([scene.states(), scene.states("other")], Array(2).fill({ a: "rate_limited for 30s", b: "active" }));
  });
});

describe("a model that fails in one pool", () => {
  it("is in standby in that pool alone", async () => {
    await using scene = await twoPools({ a: [status(500), ok({ text: "from a" })], b });
    await scene.ask();
    assertEquals([scene.states().a, scene.states("other").a], ["retry_limit for 60s", "active"]);
    assertEquals((await scene.ask({ model: "other" })).text, "from a");
    assertEquals(scene.states().a, "retry_limit for 60s");
  });

  it("and is asked for by its name is a pool of its own: retried, never left for another, in standby there", async () => {
    await using scene = await stage({ a: status(500), b });
    for (let count = 0; count < 3; count++) assertEquals((await scene.ask({ model: "a" })).status, 502);
    const seen = await scene.ask({ model: "a" });
    assertEquals([seen.status, seen.error?.code, scene.calls], [503, "no_active_model", { a: 9, b: 0 }]);
    assertEquals(scene.states(), { a: "active", b: "active" });
  });
});

describe("a quota that is used up", () => {
  const resets: readonly [now: string, schedule: string | undefined, seconds: number][] = [
    ["2026-01-01T18:00:00Z", undefined, 6 * 3600],
    ["2026-01-01T18:00:00Z", "daily", 6 * 3600],
    ["2026-01-01T18:00:00Z", "rolling", 24 * 3600],
    ["2026-01-01T18:00:00Z", "monthly", 30 * 86_400 + 6 * 3600],
    ["2026-01-31T23:59:59Z", "monthly", 1],
    ["2026-12-31T12:00:00Z", "monthly", 12 * 3600],
    ["2026-12-31T12:00:00Z", undefined, 12 * 3600],
    ["2028-02-28T00:00:00Z", undefined, 24 * 3600],
    ["2028-02-28T00:00:00Z", "monthly", 2 * 86_400],
  ];
  for (const [now, schedule, seconds] of resets) {
    it(`at ${now}, with ${schedule ?? "no"} schedule: the provider is in standby for ${seconds} s`, async () => {
      const clock = fakeClock({ now: Date.parse(now), skipSleeps: true });
      const quota = schedule === undefined ? {} : { quota: { reset_schedule: schedule } };
      await using scene = await stage({ a: noQuota, b }, { clock, provider: quota });
      assertEquals((await scene.ask()).text, "from b");
      assertEquals(scene.states(), { a: `quota_exhausted for ${seconds}s`, b: "active" });
      await clock.advance(seconds * 1000 - 1);
      assertEquals(scene.events.at(-1), "rotation a>b quota_exhausted");
      await clock.advance(1);
      assertEquals(scene.events.at(-1), "recovery provider a quota_exhausted");
    });
  }

  it("until the time the provider names, where it does", async () => {
    const until = status(429, { error: { code: "insufficient_quota" }, headers: { "retry-after": "3600" } });
    await using scene = await stage({ a: until, b });
    await scene.ask();
    assertEquals(scene.states().a, "quota_exhausted for 3600s");
  });

  it("takes along the provider's other models, asked once in all, in every pool and by name", async () => {
    const config = severalModels({ a1: "a", a2: "a", b: "b" });
    await using scene = await stage({ a: noQuota, b }, config);
    assertEquals((await scene.ask()).route, "b 2/1");
    assertEquals(scene.states(), {
      a1: "quota_exhausted for 21600s",
      a2: "quota_exhausted for 21600s",
      b: "active",
    });
    const byName = await scene.ask({ model: "a2" });
    assertEquals([byName.status, byName.error?.code, scene.calls.a], [429, "insufficient_quota", 1]);
    assertEquals(scene.events.filter((event) => event.startsWith("deact")), [
      "deactivation provider a quota_exhausted",
    ]);
  });
});

describe("a provider whose quota is new", () => {
  it("is half-open: one request at a time over all its models, until one is served", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: noQuota, b }, severalModels({ a1: "a", a2: "a", b: "b" }));
    await scene.ask();
    await scene.clock.advance(6 * 3600 * 1000);
    scene.upstreams.a!.follow(behind(gate, ok({ text: "from a" })));
    const trial = scene.ask();
    await scene.received("a", 2);
    assertEquals((await scene.ask()).text, "from b");
    gate.openAll();
    assertEquals((await trial).text, "from a");
    const gate2 = new Gate();
    scene.upstreams.a!.follow(behind(gate2, ok({ text: "from a" })));
    const answers = [scene.ask(), scene.ask()];
    await scene.received("a", 4);
    gate2.openAll();
    assertEquals((await Promise.all(answers)).map(({ text }) => text), ["from a", "from a"]);
  });
});

describe("a model that its provider does not have", () => {
  it("is in standby for the cooldown, and longer each time a trial request fails", async () => {
    await using scene = await stage({ a: noModel, b });
    for (const seconds of [60, 120, 240, 480, 600, 600]) {
      assertEquals((await scene.ask()).text, "from b");
      assertEquals(scene.states().a, `model_not_found for ${seconds}s`);
      await scene.clock.advance(seconds * 1000);
    }
    scene.upstreams.a!.follow([ok(), noModel]);
    await scene.askTimes(2);
    assertEquals(scene.states().a, "model_not_found for 60s");
  });

  it("counts one failure, however many requests at once get it", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, noModel), b });
    const answers = [scene.ask(), scene.ask(), scene.ask()];
    await scene.received("a", 3);
    gate.openAll();
    await Promise.all(answers);
    assertEquals(scene.states().a, "model_not_found for 60s");
  });

  it("is in standby in every pool, and its provider's other models serve in the same request", async () => {
    await using scene = await stage({ a: [noModel, ok({ text: "from a2" })] }, severalModels({ a1: "a", a2: "a" }));
    assertEquals((await scene.ask()).text, "from a2");
    assertEquals(scene.states(), { a1: "model_not_found for 60s", a2: "active" });
    assertEquals((await scene.ask({ model: "a1" })).error?.code, "no_active_model");
    assertEquals(scene.calls.a, 2);
  });
});

describe("when all models are in standby", () => {
  /** A pool whose two models have both been asked once, and the responses to the next request. */
  const rows: readonly [name: string, first: Behaviour, second: Behaviour, row: string, wait: string][] = [
    ["rate limits", rests(50), rests(40), "429 rate_limit_error rate_limit_exceeded", "40 40000 null"],
    ["long rate limits", rests(90), rests(70), "429 rate_limit_error rate_limit_exceeded", "70 70000 false"],
    ["used-up quotas", noQuota, noQuota, "429 insufficient_quota insufficient_quota", "21600 21600000 false"],
    ["a rate limit and a quota", rests(50), noQuota, "503 server_error no_active_model", "50 50000 null"],
    ["a rate limit and a failure", rests(50), status(500), "503 server_error no_active_model", "50 50000 null"],
    ["no such models", noModel, noModel, "503 server_error no_active_model", "60 60000 null"],
  ];
  for (const [name, first, second, row, wait] of rows) {
    it(`${name}: ${row}, and no provider is called`, async () => {
      const pool = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } };
      await using scene = await stage({ a: first, b: second }, { pool });
      await scene.ask();
      const seen = await scene.ask();
      assertEquals(`${seen.status} ${seen.error?.type} ${seen.error?.code}`, row);
      const headers = ["retry-after", "retry-after-ms", "x-should-retry"].map((header) => seen.headers.get(header));
      assertEquals([headers.map(String).join(" "), seen.route], [wait, "null 0/0"]);
      assertEquals(scene.calls, { a: 1, b: 1 });
    });
  }

  it("one in standby and one tried count alike: all rate-limited is 429 with the soonest recovery", async () => {
    await using scene = await stage({ a: rests(50), b: [ok(), rests(70)] });
    await scene.ask();
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error?.code, seen.headers.get("retry-after")], [429, "rate_limit_exceeded", "50"]);
    assertEquals(scene.calls, { a: 1, b: 2 });
  });

  it("one in standby and one that failed: 502, for a provider was asked", async () => {
    await using scene = await stage({ a: rests(50), b: [ok(), status(401)] });
    await scene.ask();
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error?.code], [502, "upstream_auth_error"]);
    assertMatch(seen.error!.message, /: b \(401\) at 127\.0\.0\.1:\d+$/);
  });
});
