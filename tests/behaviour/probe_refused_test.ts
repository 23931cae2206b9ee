/** Probes are evidence of reachability: a list that is refused says nothing about other requests. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { behind } from "../support/_failover.ts";
import {
  assertInStandby,
  changes,
  deactivationEvent,
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
import { Gate, ok, reset, status } from "../support/upstream.ts";

const fromA = ok({ text: "from a" });
const b = probed(listed, ok({ text: "from b" }));
const bad = status(500);
const refusals = [401, 403, 404, 405, 429, 501];
const config = { discovery: { health: { interval: "30s", timeout: "5s", failure_threshold: 2 } } };

describe("A list of models that is refused", () => {
  for (const code of refusals) {
    it(`${code}: takes no provider out, and one that was unreachable comes back with it`, async () => {
      await using scene = await scenery({ a: probed(status(code), fromA), b }, { config });
      for (let count = 0; count < 4; count++) await probeAfter(scene, 30_000);
      assertEquals([readModelStatus(scene), changes(scene.proxy.records)], [{ status: "active" }, []]);
      scene.upstreams.a!.follow(probed(bad, fromA));
      for (let count = 0; count < 2; count++) await probeAfter(scene, 30_000);
      assertEquals(readModelStatus(scene).reason, "health_probe");
      scene.upstreams.a!.follow(probed(status(code), fromA));
      await probeAfter(scene, 30_000);
      assertEquals(readModelStatus(scene), { status: "active" });
      assertEquals((await scene.ask()).text, "from a");
    });
  }

  for (const code of [400, 408, 500, 502, 503, 529]) {
    it(`is not one that fails with ${code}`, async () => {
      await using scene = await scenery({ a: probed(status(code), fromA), b }, { config });
      for (let count = 0; count < 2; count++) await probeAfter(scene, 30_000);
      assertEquals(readModelStatus(scene).reason, "health_probe");
    });
  }

  it("answers a probe of recovery.probe_interval: the provider is reachable", async () => {
    const pool = { recovery: { probe_interval: "20s", cooldown: "90s" }, deactivation: { retry_limit: 1 } };
    await using scene = await scenery({ a: probed(status(404), bad), b }, { pool });
    await scene.ask();
    assertInStandby(scene, "retry_limit", 90);
    await probeAfter(scene, 20_000);
    assertEquals(readModelStatus(scene), { status: "active" });
    assertEquals(changes(scene.proxy.records).at(-1), recoveryEvent(modelA, "retry_limit"));
  });

  it("ends an outage under provider_recovery: on_probe_success", async () => {
    const pool = {
      provider_deactivation: "on_api_outage",
      provider_recovery: "on_probe_success",
      deactivation: { retry_limit: 10 },
    };
    const models = { a: "a", a2: "a", b: "b" };
    await using scene = await scenery({ a: probed(status(405), reset()), b }, { models, pool, config });
    await scene.askTimes(3);
    assertInStandby(scene, "provider_outage", undefined, ["a"]);
    await probeAfter(scene, 30_000);
    assertEquals(changes(scene.proxy.records).at(-1), recoveryEvent(providerA, "provider_outage"));
  });

  it("ends no standby for a refused key with 401 or 403, as that may be what it refuses", async () => {
    for (const code of refusals) {
      const pool = { provider_deactivation: "on_auth_failure", provider_recovery: "on_probe_success" };
      await using scene = await scenery({ a: probed(status(code), status(401)), b }, { pool, config });
      await scene.ask();
      await probeAfter(scene, 30_000);
      assertEquals(readModelStatus(scene).reason, code < 404 ? "provider_auth_failure" : undefined, String(code));
    }
  });
});

describe("A request that is served between failed probes", () => {
  it("begins their row anew", async () => {
    await using scene = await scenery({ a: probed(bad, fromA), b }, { config });
    for (let count = 0; count < 3; count++) {
      await probeAfter(scene, 30_000);
      assertEquals((await scene.ask()).text, "from a");
    }
    assertEquals([readModelStatus(scene), changes(scene.proxy.records)], [{ status: "active" }, []]);
    await probeAfter(scene, 30_000);
    await probeAfter(scene, 30_000);
    assertEquals(readModelStatus(scene).reason, "health_probe");
  });

  it("does not, if another provider served it", async () => {
    await using scene = await scenery({ a: probed(bad, status(500)), b }, { config });
    await probeAfter(scene, 30_000);
    assertEquals((await scene.ask()).text, "from b");
    await probeAfter(scene, 30_000);
    assertEquals(changes(scene.proxy.records).at(-1), deactivationEvent(providerA, "health_probe"));
  });

  it("takes the provider back if it ends after the last of them", async () => {
    const gate = new Gate();
    await using scene = await scenery({ a: probed(bad, behind(gate, fromA)), b }, { config });
    const asked = scene.ask();
    await gate.reached(1);
    for (let count = 0; count < 2; count++) await probeAfter(scene, 30_000);
    assertEquals(readModelStatus(scene).reason, "health_probe");
    gate.openAll();
    assertEquals((await asked).text, "from a");
    assertEquals(changes(scene.proxy.records).slice(-2), [
      healthEvent("unhealthy", "healthy", "request"),
      recoveryEvent(providerA, "health_probe"),
    ]);
  });
});
