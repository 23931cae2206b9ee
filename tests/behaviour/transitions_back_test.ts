/**
 * The specification's table of states and transitions, from standby to active, for what ends a rest before its time:
 * probes, and quotas that start anew. That a rest ends when its time is over is proven where it begins.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Stage } from "../support/_failover.ts";
import {
  assertInStandby,
  changes,
  deactivationEvent,
  dollar,
  type EventOwner,
  healthEvent,
  listed,
  modelA,
  probeAfter,
  probed,
  providerA,
  readModelStatus,
  recoveryEvent,
  type Scenery,
  scenery,
} from "../support/_transitions.ts";
import { type Behaviour, ok, reset, status } from "../support/upstream.ts";

const b = probed(listed, ok({ text: "from b" }));
const bad = status(500);
const fromA = ok({ text: "from a" });
const limited = status(429, { headers: { "retry-after": "90" } });
const noQuota = status(429, { error: { code: "insufficient_quota" } });
const noModel = status(404, { error: { code: "model_not_found" } });
const probes = ({ upstreams }: Stage) => upstreams.a!.requests.filter(({ method }) => method === "GET").length;

/** A rest, from one request to the provider. */
interface StandbyCase {
  readonly reason: string;
  readonly answer: Behaviour;
  readonly pool?: object;
  readonly provider?: Scenery["provider"];
  readonly whose?: EventOwner;
}

const probeEach = { recovery: { probe_interval: "20s", cooldown: "90s" } };
const oneOutcome = { retry_limit: 1 };

const disproved: readonly StandbyCase[] = [
  { reason: "retry_limit", answer: bad, pool: { deactivation: oneOutcome } },
  { reason: "error_code", answer: status(422), pool: { deactivation: { ...oneOutcome, error_codes: [422] } } },
  {
    reason: "error_rate",
    answer: bad,
    pool: { deactivation: { error_rate_threshold: 0.1, error_rate_min_requests: 1 } },
  },
  {
    reason: "provider_auth_failure",
    answer: status(401),
    pool: { provider_deactivation: "on_auth_failure" },
    whose: providerA,
  },
];

describe("standby, a probe of recovery.probe_interval that succeeds", () => {
  for (const { reason, answer, pool, whose = modelA } of disproved) {
    it(`${reason}: active`, async () => {
      await using scene = await scenery({ a: probed(bad, answer), b }, { pool: { ...probeEach, ...pool } });
      await scene.ask();
      const aside = changes(scene.proxy.records);
      await probeAfter(scene, 20_000); // fails
      assertEquals([readModelStatus(scene).reason, changes(scene.proxy.records)], [reason, aside]);
      scene.upstreams.a!.follow(probed(listed, fromA));
      await probeAfter(scene, 20_000);
      assertEquals(readModelStatus(scene), { status: "active" });
      assertEquals(changes(scene.proxy.records), [...aside, recoveryEvent(whose, reason)]);
      assertEquals((await scene.ask()).text, "from a");
      assertEquals(readModelStatus(scene), { status: "active" });
    });
  }

  const others: readonly StandbyCase[] = [
    { reason: "request_limit", answer: fromA, pool: { deactivation: { request_limit: 1 } } },
    { reason: "quota_window", answer: fromA, pool: { deactivation: { request_limit: 1, quota_window: "daily" } } },
    { reason: "provider_budget", answer: fromA, provider: { budget: { daily_limit: 1 } } },
    { reason: "rate_limited", answer: limited },
    { reason: "quota_exhausted", answer: noQuota },
    { reason: "model_not_found", answer: noModel },
  ];
  for (const { reason, answer, pool, provider = {} } of others) {
    it(`${reason}: no probe can find out, and none is sent`, async () => {
      await using scene = await scenery({ a: probed(listed, answer), b }, {
        pool: { ...probeEach, ...pool },
        provider,
        model: dollar,
      });
      await scene.ask();
      await scene.clock.advance(40_000);
      assertEquals([readModelStatus(scene).reason, probes(scene)], [reason, 0]);
    });
  }

  it("is not asked for while all are active", async () => {
    await using scene = await scenery({ a: probed(listed, fromA), b }, { pool: probeEach });
    await scene.ask();
    await scene.clock.advance(60_000);
    assertEquals(probes(scene), 0);
  });

  it("leaves the model half-open: one failure, and it is in standby for twice the cooldown", async () => {
    const pool = { ...probeEach, deactivation: { retry_limit: 2 } };
    await using scene = await scenery({ a: probed(listed, bad), b }, { pool });
    await scene.askTimes(2);
    await probeAfter(scene, 20_000);
    await scene.ask();
    assertInStandby(scene, "retry_limit", 180);
    assertEquals(changes(scene.proxy.records), [
      deactivationEvent(modelA, "retry_limit", 90),
      recoveryEvent(modelA, "retry_limit"),
      deactivationEvent(modelA, "retry_limit", 180),
    ]);
  });

  it("that fails leaves it to the cooldown, and counts against no other model", async () => {
    const pool = { recovery: { probe_interval: "10s" }, deactivation: oneOutcome };
    await using scene = await scenery({ a: probed(bad, bad), b }, { pool });
    await scene.ask();
    for (let count = 0; count < 5; count++) await probeAfter(scene, 10_000);
    assertEquals(readModelStatus(scene, "a", "other"), { status: "active" });
    await scene.clock.advance(10_000);
    assertEquals(readModelStatus(scene), { status: "active" });
  });

  it("error_rate: what failed before the standby is forgotten", async () => {
    const deactivation = { error_rate_threshold: 0.5, error_rate_min_requests: 4, retry_limit: 10 };
    await using scene = await scenery({ a: probed(listed, bad), b }, { pool: { ...probeEach, deactivation } });
    await scene.askTimes(4);
    assertInStandby(scene, "error_rate", 90);
    await probeAfter(scene, 20_000);
    scene.upstreams.a!.follow(fromA);
    assertEquals((await scene.askTimes(2)).map(({ text }) => text), ["from a", "from a"]);
  });
});

describe("standby, provider_recovery", () => {
  const models = { a: "a", a2: "a", b: "b" };
  const auth = { provider_deactivation: "on_auth_failure", provider_recovery: "on_probe_success" };
  const health = { discovery: { health: { interval: "30s", failure_threshold: 2 } } };

  it("on_probe_success, by probe_interval: in standby until a probe succeeds, then all its models are active", async () => {
    const pool = { ...auth, recovery: { probe_interval: "2m" } };
    await using scene = await scenery({ a: probed(status(401), status(401)), b }, { models, pool });
    await scene.ask();
    for (const name of ["a", "a2"]) assertInStandby(scene, "provider_auth_failure", undefined, [name]);
    await probeAfter(scene, 120_000); // longer than the cooldown
    assertEquals(readModelStatus(scene).reason, "provider_auth_failure");
    scene.upstreams.a!.follow(probed(listed, fromA));
    await probeAfter(scene, 120_000);
    const pools = ["chat", "other"].flatMap((
      name,
    ) => [readModelStatus(scene, "a", name), readModelStatus(scene, "a2", name)]);
    assertEquals(pools, Array(4).fill({ status: "active" }));
    assertEquals(changes(scene.proxy.records), [
      deactivationEvent(providerA, "provider_auth_failure"),
      recoveryEvent(providerA, "provider_auth_failure"),
    ]);
  });

  it("on_probe_success, by the health monitor", async () => {
    const pool = { provider_deactivation: "on_api_outage", provider_recovery: "on_probe_success" };
    const deactivation = { retry_limit: 10 };
    const cast = { a: probed(listed, reset()), b };
    await using scene = await scenery(cast, { models, pool: { ...pool, deactivation }, config: health });
    await scene.askTimes(3);
    assertInStandby(scene, "provider_outage", undefined, ["a2", "other"]);
    await probeAfter(scene, 30_000);
    assertEquals([readModelStatus(scene), readModelStatus(scene, "a2", "other")], [{ status: "active" }, {
      status: "active",
    }]);
    assertEquals(changes(scene.proxy.records).at(-1), recoveryEvent(providerA, "provider_outage"));
  });

  it("on_manual: neither time nor a probe ends it", async () => {
    const pool = { ...auth, provider_recovery: "on_manual" };
    await using scene = await scenery({ a: probed(listed, status(401)), b }, { models, pool, config: health });
    await scene.ask();
    assertInStandby(scene, "provider_auth_failure", undefined);
    for (let count = 0; count < 3; count++) await probeAfter(scene, 30_000);
    assertEquals(readModelStatus(scene).reason, "provider_auth_failure");
  });
});

describe("standby, provider_recovery on_manual", () => {
  it("is not asked about by probe_interval", async () => {
    const pool = { ...probeEach, provider_deactivation: "on_auth_failure", provider_recovery: "on_manual" };
    await using scene = await scenery({ a: probed(listed, status(401)), b }, { pool });
    await scene.ask();
    await scene.clock.advance(60_000);
    assertEquals([readModelStatus(scene).reason, probes(scene)], ["provider_auth_failure", 0]);
  });
});

describe("standby, the health monitor", () => {
  const config = { discovery: { health: { interval: "30s", failure_threshold: 2 } } };

  for (const failed of [2, 4]) {
    it(`closes a provider's standby at its first answered probe after ${failed} failed ones, half-open`, async () => {
      await using scene = await scenery({ a: probed(bad, fromA), b }, { config });
      for (let count = 0; count < failed; count++) await probeAfter(scene, 30_000);
      scene.upstreams.a!.follow(probed(listed, bad));
      await probeAfter(scene, 30_000);
      assertEquals(readModelStatus(scene), { status: "active" });
      assertEquals(changes(scene.proxy.records), [
        healthEvent("healthy", "unhealthy", "server"),
        deactivationEvent(providerA, "health_probe"),
        healthEvent("unhealthy", "healthy", "probe"),
        recoveryEvent(providerA, "health_probe"),
      ]);
      await scene.ask();
      assertInStandby(scene, "retry_limit", 60); // one failure is enough
    });
  }

  it("counts failures in a row", async () => {
    await using scene = await scenery({ a: probed(bad, fromA), b }, { config });
    await probeAfter(scene, 30_000);
    scene.upstreams.a!.follow(probed(listed, fromA));
    await probeAfter(scene, 30_000);
    scene.upstreams.a!.follow(probed(bad, fromA));
    await probeAfter(scene, 30_000);
    assertEquals([readModelStatus(scene), changes(scene.proxy.records)], [{ status: "active" }, []]);
  });

  it("does not activate what is in standby for another reason too", async () => {
    await using scene = await scenery({ a: probed(bad, noQuota), b }, { config });
    await scene.ask();
    for (let count = 0; count < 2; count++) await probeAfter(scene, 30_000);
    scene.upstreams.a!.follow(probed(listed, fromA));
    await probeAfter(scene, 30_000);
    assertEquals(readModelStatus(scene).reason, "quota_exhausted");
  });
});

describe("standby, a quota that starts anew", () => {
  const daily = 6 * 3600;
  const monthly = 30 * 86_400 + daily;
  const rows: readonly [recovery: object, provider: string | undefined, seconds: number][] = [
    [{}, undefined, daily],
    [{ on_quota_reset: true, quota_reset_schedule: "daily_utc" }, undefined, daily],
    [{ quota_reset_schedule: "monthly" }, undefined, monthly],
    [{}, "monthly", monthly],
    [{}, "rolling", 24 * 3600],
    [{ quota_reset_schedule: "daily_utc" }, "monthly", daily],
    [{ on_quota_reset: false, cooldown: "90s" }, undefined, 90],
  ];
  for (const [recovery, schedule, seconds] of rows) {
    it(`recovery ${JSON.stringify(recovery)}, provider ${schedule}: active after ${seconds} s`, async () => {
      const provider = schedule === undefined ? {} : { quota: { reset_schedule: schedule } };
      await using scene = await scenery({ a: [noQuota, fromA], b }, { pool: { recovery }, provider });
      await scene.ask();
      assertInStandby(scene, "quota_exhausted", seconds);
      await scene.clock.advance(seconds * 1000 - 1);
      const aside = [deactivationEvent(providerA, "quota_exhausted", seconds)];
      assertEquals([readModelStatus(scene).status, changes(scene.proxy.records)], ["standby", aside]);
      await scene.clock.advance(1);
      assertEquals(readModelStatus(scene), { status: "active" });
      assertEquals(changes(scene.proxy.records), [...aside, recoveryEvent(providerA, "quota_exhausted")]);
      assertEquals((await scene.ask()).text, "from a");
    });
  }
});
