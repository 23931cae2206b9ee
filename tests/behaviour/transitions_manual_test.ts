/** Transitions that an operator asks for: `mesh.deactivate(name)`, `mesh.activate(name)`, of a model or a provider. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Cast, Stage } from "../support/_failover.ts";
import {
  assertInStandby,
  changes,
  deactivationEvent,
  dollar,
  listed,
  probeAfter,
  probed,
  providerA,
  readModelStatus,
  recoveryEvent,
  type Scenery,
  scenery,
} from "../support/_transitions.ts";
import { ok, status } from "../support/upstream.ts";

const bad = status(500);
const fromA = ok({ text: "from a" });
const b = probed(listed, ok({ text: "from b" }));
const everywhere = { model: "a1", provider: "a" };
const inChat = { pool: "chat", ...everywhere };
const active = { status: "active" };
const health = { discovery: { health: { interval: "30s", failure_threshold: 1 } } };

/** Two models of one provider and one of another, in two pools. */
function cast(a: Cast[string], options: Scenery = {}): Promise<Stage> {
  return scenery({ a, b }, { models: { a1: "a", a2: "a", b: "b" }, ...options });
}

const states = (scene: Stage) =>
  ["chat", "other"].map((pool) => ["a1", "a2"].map((model) => readModelStatus(scene, model, pool).status).join(" "));

describe("active, deactivate()", () => {
  it("a model: standby in every pool and by its own name, until activate()", async () => {
    await using scene = await cast(fromA);
    scene.proxy.mesh.deactivate("a1");
    for (const pool of ["chat", "other"]) assertInStandby(scene, "manual", undefined, ["a1", pool]);
    assertEquals(states(scene), ["standby active", "standby active"]);
    await scene.clock.advance(86_400_000);
    assertEquals([(await scene.ask()).route, (await scene.ask({ model: "a1" })).status], ["a2 1/0", 503]);
    scene.proxy.mesh.activate("a1");
    assertEquals(states(scene), ["active active", "active active"]);
    assertEquals(changes(scene.proxy.records), [
      deactivationEvent(everywhere, "manual"),
      recoveryEvent(everywhere, "manual"),
    ]);
    assertEquals((await scene.ask()).route, "a1 1/0");
  });

  it("a provider: standby for all its models in all pools, until activate()", async () => {
    await using scene = await cast(fromA);
    scene.proxy.mesh.deactivate("a");
    for (const model of ["a1", "a2"]) assertInStandby(scene, "manual", undefined, [model, "other"]);
    assertEquals([states(scene), (await scene.ask()).route], [["standby standby", "standby standby"], "b 1/0"]);
    scene.proxy.mesh.activate("a");
    assertEquals(states(scene), ["active active", "active active"]);
    assertEquals(changes(scene.proxy.records), [
      deactivationEvent(providerA, "manual"),
      recoveryEvent(providerA, "manual"),
    ]);
  });

  it("twice is once", async () => {
    await using scene = await cast(fromA);
    for (const name of ["a1", "a1", "a", "a"]) scene.proxy.mesh.deactivate(name);
    assertEquals(changes(scene.proxy.records), [
      deactivationEvent(everywhere, "manual"),
      deactivationEvent(providerA, "manual"),
    ]);
  });

  it("is not ended by a probe", async () => {
    await using scene = await cast(probed(listed, fromA), { config: health });
    scene.proxy.mesh.deactivate("a");
    await probeAfter(scene, 30_000);
    assertEquals([readModelStatus(scene, "a1").reason, states(scene)[0]], ["manual", "standby standby"]);
  });

  it("of a provider in standby until a probe succeeds: no probe ends it any more", async () => {
    await using scene = await cast(probed(bad, fromA), { config: health });
    await probeAfter(scene, 30_000);
    assertEquals(readModelStatus(scene, "a1").reason, "health_probe");
    scene.proxy.mesh.deactivate("a");
    scene.upstreams.a!.follow(probed(listed, fromA));
    await probeAfter(scene, 30_000);
    assertEquals(states(scene), ["standby standby", "standby standby"]);
    scene.proxy.mesh.activate("a");
    assertEquals(states(scene), ["active active", "active active"]);
  });
});

describe("deactivate() and activate() of a name that a model and a provider have", () => {
  it("mean the model", async () => {
    await using scene = await scenery({ a: fromA, b }, { models: { a: "a", a2: "a", b: "b" } });
    const seen = () => ["a", "a2"].map((model) => readModelStatus(scene, model).status);
    scene.proxy.mesh.deactivate("a");
    assertEquals(seen(), ["standby", "active"]);
    scene.proxy.mesh.activate("a");
    assertEquals(seen(), ["active", "active"]);
  });
});

describe("standby, activate()", () => {
  it("a provider: its models stay in standby for reasons of their own", async () => {
    await using scene = await cast([bad, fromA], { pool: { deactivation: { retry_limit: 1 } } });
    await scene.ask();
    scene.proxy.mesh.deactivate("a");
    assertEquals(states(scene)[0], "standby standby");
    scene.proxy.mesh.activate("a");
    assertEquals(states(scene)[0], "standby active");
    assertInStandby(scene, "retry_limit", 60, ["a1"]);
  });

  it("what is in standby for several reasons: all of them end, and that is emitted once", async () => {
    await using scene = await cast(probed(bad, fromA), { config: health });
    await probeAfter(scene, 30_000);
    scene.proxy.mesh.deactivate("a");
    scene.proxy.mesh.activate("a");
    assertEquals(states(scene), ["active active", "active active"]);
    assertEquals(changes(scene.proxy.records).slice(1), [
      deactivationEvent(providerA, "health_probe"),
      deactivationEvent(providerA, "manual"),
      recoveryEvent(providerA, "manual"),
    ]);
  });

  it("retry_limit: active in every pool, and without a trial request", async () => {
    await using scene = await cast([bad, fromA, bad, fromA, fromA], { pool: { deactivation: { retry_limit: 1 } } });
    await scene.ask();
    assertInStandby(scene, "retry_limit", 60, ["a1"]);
    scene.proxy.mesh.activate("a1");
    assertEquals(readModelStatus(scene, "a1"), active);
    assertEquals(changes(scene.proxy.records).at(-1), recoveryEvent(inChat, "manual"));
    await scene.ask();
    assertInStandby(scene, "retry_limit", 60, ["a1"]); // and not twice as long
  });

  it("provider_recovery on_manual: active for all models of the provider", async () => {
    const pool = { provider_deactivation: "on_auth_failure", provider_recovery: "on_manual" };
    await using scene = await cast([status(401), fromA], { pool });
    await scene.ask();
    for (const model of ["a1", "a2"]) assertInStandby(scene, "provider_auth_failure", undefined, [model, "other"]);
    scene.proxy.mesh.activate("a");
    assertEquals(states(scene), ["active active", "active active"]);
    const aside = deactivationEvent(providerA, "provider_auth_failure");
    assertEquals(changes(scene.proxy.records), [aside, recoveryEvent(providerA, "manual")]);
    assertEquals((await scene.ask()).text, "from a");
  });

  it("a spent limit without a window: the count starts anew", async () => {
    await using scene = await cast(fromA, { pool: { deactivation: { request_limit: 2 } } });
    await scene.askTimes(2);
    scene.proxy.mesh.activate("a1");
    await scene.ask();
    assertEquals(readModelStatus(scene, "a1"), active);
    await scene.ask();
    assertInStandby(scene, "request_limit", 60, ["a1"]);
  });

  it("error_rate: what failed before is forgotten", async () => {
    const deactivation = { error_rate_threshold: 0.5, error_rate_min_requests: 2, retry_limit: 10 };
    await using scene = await cast([bad, fromA, bad, fromA], { pool: { deactivation } });
    await scene.ask(); // a1 fails, a2 serves
    await scene.ask(); // a1 fails again
    assertInStandby(scene, "error_rate", 60, ["a1"]);
    scene.proxy.mesh.activate("a1");
    await scene.askTimes(2);
    assertEquals(readModelStatus(scene, "a1"), active);
  });

  it("a provider's budget that is spent stays in force: no provider is asked", async () => {
    await using scene = await cast(fromA, { model: dollar, provider: { budget: { daily_limit: 1 } } });
    await scene.ask();
    scene.proxy.mesh.activate("a");
    assertEquals([(await scene.ask()).route, scene.calls.a], ["b 1/0", 1]);
  });

  it("what is active stays so, and nothing is emitted", async () => {
    await using scene = await cast(fromA);
    for (const name of ["a1", "a"]) scene.proxy.mesh.activate(name);
    assertEquals([states(scene), changes(scene.proxy.records)], [["active active", "active active"], []]);
  });
});
