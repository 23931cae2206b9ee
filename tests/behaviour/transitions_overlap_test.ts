/** Several reasons for standby at once: the longest one is reported, and a model recovers when none is left. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after } from "../support/_failover.ts";
import { until } from "../support/patience.ts";
import {
  assertInStandby,
  changes,
  deactivationEvent,
  dollar,
  healthEvent,
  listed,
  modelA,
  probeAfter,
  probed,
  providerA,
  readModelStatus,
  recoveryEvent,
  scenery,
} from "../support/_transitions.ts";
import { hang, ok, status } from "../support/upstream.ts";

const minute = 60_000;
const hour = 60 * minute;
const bad = status(500);
const fromA = ok({ text: "from a" });
const b = probed(listed, ok({ text: "from b" }));
const modelB = { ...modelA, model: "b", provider: "b" };

describe("a standby that is over while a limit is still reached", () => {
  it("goes on for the limit, and that is emitted", async () => {
    const pool = { budget: { daily_limit: 1 }, deactivation: { retry_limit: 1 } };
    await using scene = await scenery({ a: [bad, fromA], b }, { pool, model: dollar });
    await scene.ask(); // a fails and costs nothing, b spends the pool's budget
    assertInStandby(scene, "retry_limit", 60);
    assertInStandby(scene, "budget_limit", 6 * 3600, ["b"]);
    await scene.clock.advance(minute);
    const { reason, retryAt } = readModelStatus(scene);
    assertEquals([reason, retryAt], ["budget_limit", "2026-01-02T00:00:00.000Z"]);
    assertEquals(changes(scene.proxy.records), [
      deactivationEvent(modelA, "retry_limit", 60),
      deactivationEvent(modelB, "budget_limit", 6 * 3600),
      deactivationEvent(modelA, "budget_limit", 6 * 3600 - 60),
    ]);
    await scene.clock.advance(6 * hour - minute);
    assertEquals(changes(scene.proxy.records).slice(3), [
      recoveryEvent(modelA, "budget_limit"),
      recoveryEvent(modelB, "budget_limit"),
    ]);
    assertEquals((await scene.ask()).text, "from a");
  });

  it("a day's budget and a month's: until the later of those that are spent", async () => {
    const provider = { budget: { daily_limit: 2, monthly_limit: 3 } };
    await using scene = await scenery({ a: fromA, b }, { provider, model: dollar });
    await scene.askTimes(2);
    assertInStandby(scene, "provider_budget", 6 * 3600);
    await scene.clock.advance(6 * hour);
    assertEquals((await scene.ask()).text, "from a");
    assertInStandby(scene, "provider_budget", 30 * 86_400);
    await scene.clock.advance(30 * 24 * hour);
    assertEquals((await scene.ask()).text, "from a");
  });
});

describe("a model and its provider in standby", () => {
  const pool = { provider_deactivation: "on_auth_failure", deactivation: { retry_limit: 1 } };

  it("the longer standby is what the status says; each of the two is emitted", async () => {
    const health = { discovery: { health: { interval: "45s", failure_threshold: 1 } } };
    await using scene = await scenery({ a: probed(bad, bad), b }, { pool, config: health });
    await scene.ask();
    assertInStandby(scene, "retry_limit", 60);
    await probeAfter(scene, 45_000);
    assertEquals(readModelStatus(scene, "a", "other").status, "standby");
    assertEquals([readModelStatus(scene).reason, readModelStatus(scene).retryAt], ["health_probe", undefined]);
    await scene.clock.advance(15_000);
    assertEquals(changes(scene.proxy.records), [
      deactivationEvent(modelA, "retry_limit", 60),
      healthEvent("healthy", "unhealthy", "server"),
      deactivationEvent(providerA, "health_probe"),
      recoveryEvent(modelA, "retry_limit"),
    ]);
    assertEquals(readModelStatus(scene).reason, "health_probe");
  });

  it("a key that is refused again: the provider is in standby for twice as long", async () => {
    const lenient = { ...pool, deactivation: { retry_limit: 3 } };
    await using scene = await scenery({ a: status(401), b }, { pool: lenient });
    for (const seconds of [60, 120, 240]) {
      await scene.ask();
      assertInStandby(scene, "provider_auth_failure", seconds);
      assertEquals(changes(scene.proxy.records).at(-1), deactivationEvent(providerA, "provider_auth_failure", seconds));
      await scene.clock.advance(seconds * 1000);
    }
    assertEquals(readModelStatus(scene), { status: "active" });
  });
});

describe("a provider's trial request", () => {
  const lenient = { provider_deactivation: "on_auth_failure", deactivation: { retry_limit: 3 } };

  it("that its key fails again says nothing of the model", async () => {
    await using scene = await scenery({ a: status(401), b }, { pool: lenient });
    for (const seconds of [60, 120, 240, 480]) {
      await scene.ask();
      await scene.clock.advance(seconds * 1000);
    }
    assertEquals(
      changes(scene.proxy.records),
      [60, 120, 240, 480].flatMap((seconds) => [
        deactivationEvent(providerA, "provider_auth_failure", seconds),
        recoveryEvent(providerA, "provider_auth_failure"),
      ]),
    );
  });

  it("that the model fails in another way sets the model aside", async () => {
    await using scene = await scenery({ a: [status(401), bad], b }, { pool: lenient });
    await scene.ask();
    await scene.clock.advance(minute);
    await scene.ask();
    assertInStandby(scene, "retry_limit", 60);
    assertEquals(readModelStatus(scene, "a", "other"), { status: "active" });
  });

  it("that succeeds is passed, though it spends the provider's budget", async () => {
    const provider = { budget: { daily_limit: 1 } };
    const cast = { a: [status(401), fromA, status(401)], b };
    await using scene = await scenery(cast, { pool: lenient, provider, model: dollar });
    await scene.ask();
    await scene.clock.advance(minute);
    await scene.ask();
    assertInStandby(scene, "provider_budget", 6 * 3600 - 60);
    await scene.clock.advance(6 * hour - minute);
    await scene.ask();
    assertInStandby(scene, "provider_auth_failure", 60); // not twice as long
  });
});

describe("a probe that is not answered", () => {
  it("has failed after discovery.health.timeout", async () => {
    const health = { interval: "30s", timeout: "5s", failure_threshold: 1, providers: ["a"] };
    const config = { discovery: { health } };
    await using scene = await scenery({ a: probed(hang(), fromA), b }, { config });
    await after(scene.clock, 30_000, scene.upstreams.a!.received(1));
    await scene.clock.advance(4_999);
    assertEquals(changes(scene.proxy.records), []);
    await scene.clock.advance(1);
    await until(() => readModelStatus(scene).status === "standby");
    assertEquals(changes(scene.proxy.records), [
      healthEvent("healthy", "unhealthy", "timeout"),
      deactivationEvent(providerA, "health_probe"),
    ]);
    assertEquals((await scene.ask()).text, "from b");
  });
});
