/**
 * Windows, and every end that is a date, follow the wall clock: also when the machine has slept, which stops the monotonic
 * clock, and when the wall clock was set. Durations do not.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { MeshEvent } from "../../../mod.ts";
import {
  changes,
  dollar,
  type EventOwner,
  listed,
  modelA,
  probed,
  providerA,
  readModelStatus,
  recoveryEvent,
  type Scenery,
  scenery,
} from "../../support/_transitions.ts";
import { type Behaviour, ok, status } from "../../support/upstream.ts";
import type { Stage } from "../../support/_failover.ts";
import { broke, byKey, keyed, keysSeen } from "../../support/_keys.ts";

const hour = 3_600_000;
const day = 24 * hour;
const evening = Date.UTC(2026, 0, 1, 23);
const json = { "content-type": "application/json" };
const fromA = ok({ text: "from a" });
const b = probed(listed, ok({ text: "from b" }));

/** A standby that ends at a date, after one request at eleven in the evening of January 1. */
interface DatedCase {
  readonly what: string;
  readonly scene: Scenery;
  readonly answer?: Behaviour;
  readonly reason: string;
  readonly whose?: EventOwner;
  /** The date. */
  readonly end: number;
}

const midnight = Date.UTC(2026, 0, 2);
const nextMonth = Date.UTC(2026, 1, 1);
const noQuota = status(429, { error: { code: "insufficient_quota" } });
const budget = (window: string) => ({ budget: { [`${window}_limit`]: 1 } });
const quota = (window: string) => ({ pool: { deactivation: { request_limit: 1, quota_window: window } } });
const maintained = { maintenance_window: "30 22 * * *", maintenance_duration: "2h" };
const inAnHour = status(429, { headers: { "retry-after": "Fri, 02 Jan 2026 00:10:00 GMT" } });

const cases: readonly DatedCase[] = [
  ...[["daily", midnight], ["monthly", nextMonth]].flatMap(([window, end]): DatedCase[] => [
    {
      what: `a provider's ${window} budget`,
      scene: { provider: budget(window as string), model: dollar },
      reason: "provider_budget",
      whose: providerA,
      end: end as number,
    },
    {
      what: `a pool's ${window} budget`,
      scene: { pool: budget(window as string), model: dollar },
      reason: "budget_limit",
      end: end as number,
    },
    {
      what: `the ${window} budget over all`,
      scene: { config: budget(window as string), model: dollar },
      reason: "budget_limit",
      end: end as number,
    },
    { what: `a ${window} quota_window`, scene: quota(window as string), reason: "quota_window", end: end as number },
    {
      what: `a vendor's ${window} quota`,
      scene: { provider: { quota: { reset_schedule: window } } },
      answer: noQuota,
      reason: "quota_exhausted",
      whose: providerA,
      end: end as number,
    },
  ]),
  {
    what: "a vendor's rolling quota",
    scene: { provider: { quota: { reset_schedule: "rolling" } } },
    answer: noQuota,
    reason: "quota_exhausted",
    whose: providerA,
    end: evening + day,
  },
  {
    what: "a Retry-After that is a date",
    scene: {},
    answer: inAnHour,
    reason: "rate_limited",
    whose: { model: "a", provider: "a" } as unknown as EventOwner,
    end: Date.UTC(2026, 0, 2, 0, 10),
  },
  {
    what: "the window of a maintenance",
    scene: { pool: { deactivation: maintained } },
    reason: "maintenance_window",
    end: Date.UTC(2026, 0, 2, 0, 30),
  },
];

/** The scene of a case after its request, with model `a` in standby. */
async function inStandby({ scene: given, answer = fromA, reason, end }: DatedCase): Promise<Stage> {
  const scene = await scenery({ a: answer, b }, { now: evening, ...given });
  await scene.ask();
  const { retryAt, ...state } = readModelStatus(scene);
  assertEquals([state.reason, Date.parse(retryAt!)], [reason, end]);
  scene.upstreams.a!.follow(fromA);
  return scene;
}

/** Recoveries of `a` so far. */
const recoveries = (scene: Stage) =>
  changes(scene.proxy.records).filter((one) => (one as MeshEvent).event === "recovery");

describe("A standby that ends at a date", () => {
  for (const one of cases) {
    const { what, reason, whose = modelA, end } = one;
    it(`${what}: is over when the clock is set past it, at once and for the next request`, async () => {
      await using scene = await inStandby(one);
      scene.clock.jumpWallTime(end - scene.clock.now() - 1);
      assertEquals([readModelStatus(scene).reason, recoveries(scene)], [reason, []]);
      scene.clock.jumpWallTime(1);
      assertEquals(recoveries(scene)[0], recoveryEvent(whose, reason));
      assertEquals([readModelStatus(scene), (await scene.ask()).text], [{ status: "active" }, "from a"]);
    });

    it(`${what}: lasts until it when the clock is set back, on the clock of the wall`, async () => {
      await using scene = await inStandby(one);
      const isOpenBefore = reason === "maintenance_window"; // begun at half past ten
      scene.clock.jumpWallTime(isOpenBefore ? -10 * 60_000 : -3 * hour);
      const left = end - scene.clock.now();
      await scene.clock.advance(left - 1);
      const { retryAt } = readModelStatus(scene);
      assertEquals([readModelStatus(scene).reason, Date.parse(retryAt!), recoveries(scene)], [reason, end, []]);
      await scene.clock.advance(1);
      assertEquals([readModelStatus(scene), recoveries(scene)[0]], [
        { status: "active" },
        recoveryEvent(whose, reason),
      ]);
    });

    it(`${what}: is still a date for the process that takes up the state`, async () => {
      await using scene = await inStandby(one);
      const { mesh } = scene.proxy;
      mesh.importState(JSON.parse(JSON.stringify(mesh.exportState())));
      scene.clock.jumpWallTime(-hour / 6);
      assertEquals(Date.parse(readModelStatus(scene).retryAt!), end);
      scene.clock.jumpWallTime(end - scene.clock.now());
      assertEquals(readModelStatus(scene), { status: "active" });
    });
  }

  it("does not outlast a wall clock that was wrong once", async () => {
    const wrong = Date.UTC(2099, 0, 1, 23);
    for (const { scene: given, answer = fromA, reason } of cases) {
      if (reason === "rate_limited") continue;
      await using scene = await scenery({ a: answer, b }, { now: wrong, ...given });
      await scene.ask();
      assertEquals(readModelStatus(scene).reason, reason);
      scene.upstreams.a!.follow(fromA);
      scene.clock.jumpWallTime(Date.UTC(2026, 0, 1, 12) - wrong);
      assertEquals([readModelStatus(scene), (await scene.ask()).text], [{ status: "active" }, "from a"], reason);
    }
  });
});

describe("A standby that lasts for a time", () => {
  const cases: readonly [what: string, scene: Scenery, answer: Behaviour, reason: string, seconds: number][] = [
    ["the cooldown", { pool: { deactivation: { retry_limit: 1 } } }, status(500), "retry_limit", 60],
    ["Retry-After", {}, status(429, { headers: { "retry-after": "90" } }), "rate_limited", 90],
    [
      "recovery.on_quota_reset: false",
      { pool: { recovery: { on_quota_reset: false } } },
      noQuota,
      "quota_exhausted",
      60,
    ],
    ["a limit without a window", { pool: { deactivation: { request_limit: 1 } } }, fromA, "request_limit", 60],
  ];
  for (const [what, given, answer, reason, seconds] of cases) {
    it(`${what}: lasts as long, whatever the wall clock is set to`, async () => {
      for (const stepMs of [day, -day]) {
        await using scene = await scenery({ a: answer, b }, { now: evening, ...given });
        await scene.ask();
        scene.clock.jumpWallTime(stepMs);
        await scene.clock.advance(seconds * 1000 - 1);
        assertEquals(readModelStatus(scene).reason, reason);
        await scene.clock.advance(1);
        assertEquals(readModelStatus(scene), { status: "active" });
      }
    });
  }
});

describe("A maintenance window", () => {
  const pool = { deactivation: { maintenance_window: "0 3 * * *", maintenance_duration: "1h" } };
  const [two, three, half] = [Date.UTC(2026, 0, 2, 2), Date.UTC(2026, 0, 2, 3), Date.UTC(2026, 0, 2, 3, 30)];

  it("begins at once when the machine wakes up within it", async () => {
    await using scene = await scenery({ a: fromA, b }, { now: two, pool });
    scene.clock.jumpWallTime(half - two);
    assertEquals([readModelStatus(scene).reason, readModelStatus(scene).retryAt], [
      "maintenance_window",
      "2026-01-02T04:00:00.000Z",
    ]);
  });

  it("is skipped by a machine that sleeps through it", async () => {
    await using scene = await scenery({ a: fromA, b }, { now: two, pool });
    scene.clock.jumpWallTime(3 * hour);
    assertEquals([readModelStatus(scene), changes(scene.proxy.records)], [{ status: "active" }, []]);
  });

  it("is yet to come when the clock is set back to before it", async () => {
    await using scene = await scenery({ a: fromA, b }, { now: three, pool });
    assertEquals(readModelStatus(scene).reason, "maintenance_window");
    scene.clock.jumpWallTime(two - three);
    assertEquals(readModelStatus(scene), { status: "active" });
    await scene.clock.advance(hour);
    assertEquals([readModelStatus(scene).reason, readModelStatus(scene).retryAt], [
      "maintenance_window",
      "2026-01-02T04:00:00.000Z",
    ]);
  });
});

describe("An API key of several", () => {
  const rows: readonly [what: string, refusal: Behaviour, end: number][] = [
    ["whose quota is exhausted", broke, midnight],
    ["that is to be called again at a date", inAnHour, Date.UTC(2026, 0, 2, 0, 10)],
  ];
  for (const [what, refusal, end] of rows) {
    it(`${what}: serves again once the clock is set past that, and not when it is set back`, async () => {
      await using scene = await keyed(byKey({ 1: refusal }), { now: evening });
      await scene.askTimes(3);
      assertEquals(keysSeen(scene.upstreams.a!), "1 2 2 2");
      scene.clock.jumpWallTime(-hour);
      await scene.clock.advance(end - scene.clock.now() - 1);
      await scene.ask();
      assertEquals(keysSeen(scene.upstreams.a!), "1 2 2 2 2");
      scene.clock.jumpWallTime(1);
      scene.upstreams.a!.follow(fromA);
      await scene.askTimes(2);
      assertEquals(keysSeen(scene.upstreams.a!).split(" ").slice(-2).sort(), ["1", "2"]);
    });
  }

  it("all of which are exhausted: the provider is in standby until the date", async () => {
    await using scene = await keyed(broke, { now: evening });
    await scene.ask();
    scene.clock.jumpWallTime(-3 * hour);
    assertEquals([readModelStatus(scene).reason, Date.parse(readModelStatus(scene).retryAt!)], [
      "quota_exhausted",
      midnight,
    ]);
  });
});

describe("A client of the proxy", () => {
  it("has its budget again on the day that the clock is set to, and not before", async () => {
    const token = { token: "client-token-0123456789", name: "app", budget: { daily_limit: 1 } };
    await using scene = await scenery({ a: fromA, b }, {
      now: evening,
      model: dollar,
      config: { proxy: { auth: { method: "bearer", tokens: [token] } } },
    });
    const ask = async () =>
      (await scene.ask({}, { headers: { ...json, authorization: `Bearer ${token.token}` } })).status;
    assertEquals([await ask(), await ask()], [200, 429]);
    scene.clock.jumpWallTime(-6 * hour);
    assertEquals(await ask(), 429);
    scene.clock.jumpWallTime(midnight - scene.clock.now());
    assertEquals([await ask(), await ask()], [200, 429]);
  });
});

describe("A model's limits.rpd", () => {
  it("counts the UTC day of the wall clock, and its end is a date", async () => {
    const of = { a: { limits: { rpd: 1 } } };
    await using scene = await scenery({ a: fromA, b }, { now: evening, of });
    const texts = async (count: number) => (await scene.askTimes(count)).map(({ text }) => text);
    assertEquals(await texts(2), ["from a", "from b"]);
    scene.clock.jumpWallTime(-hour);
    await scene.clock.advance(hour);
    assertEquals(await texts(1), ["from b"]);
    scene.clock.jumpWallTime(hour);
    assertEquals(await texts(2), ["from a", "from b"]);
  });
});

describe("A vendor's response that nothing is left", () => {
  it("holds until its reset by the clock that gets there first", async () => {
    const headers = {
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2026-01-01T23:30:00Z",
    };
    for (const stepMs of [hour / 2, -hour]) {
      await using scene = await scenery({ a: [ok({ headers, text: "from a" }), fromA], b }, { now: evening });
      assertEquals((await scene.askTimes(2)).map(({ text }) => text), ["from a", "from b"]);
      scene.clock.jumpWallTime(stepMs);
      if (stepMs < 0) await scene.clock.advance(hour / 2);
      assertEquals((await scene.ask()).text, "from a");
    }
  });
});
