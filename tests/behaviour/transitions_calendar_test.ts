/** Maintenance, and counts that start anew: standbys by the calendar, beside those for other reasons. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  assertInStandby,
  changes,
  deactivationEvent,
  dollar,
  listed,
  modelA,
  probeAfter,
  probed,
  readModelStatus,
  recoveryEvent,
  scenery,
} from "../support/_transitions.ts";
import { ok, type Script, status } from "../support/upstream.ts";

const minute = 60_000;
const b = ok({ text: "from b" });
const bad = status(500);
const fromA = ok({ text: "from a" });
const fromB = { ...modelA, model: "b", provider: "b" };
const maintained = { maintenance_window: "30 19 * * *", maintenance_duration: "20m" };
const reason = "maintenance_window";

/** A time of the first of January. */
function at(hours: number, minutes: number): number {
  return Date.UTC(2026, 0, 1, hours, minutes);
}

/** A pool under maintenance from half past seven to ten to eight each evening, and one that is not. */
function maintenance(now: number, a: Script = fromA, pool: object = {}) {
  return scenery({ a, b }, { now, pool: { deactivation: maintained, ...pool } });
}

describe("maintenance_window", () => {
  it("sets all models of the pool aside when it starts, and takes them back when it is over", async () => {
    await using scene = await maintenance(at(18, 0));
    await scene.clock.advance(90 * minute - 1);
    assertEquals([readModelStatus(scene), changes(scene.proxy.records)], [{ status: "active" }, []]);
    await scene.clock.advance(1);
    for (const name of ["a", "b"]) assertInStandby(scene, reason, 1200, [name]);
    assertEquals(readModelStatus(scene, "a", "other"), { status: "active" });
    const aside = [deactivationEvent(modelA, reason, 1200), deactivationEvent(fromB, reason, 1200)];
    assertEquals(changes(scene.proxy.records), aside);
    const { status: code, error, headers } = await scene.ask();
    assertEquals([code, error?.code, headers.get("retry-after")], [503, "no_active_model", "1200"]);
    await scene.clock.advance(20 * minute - 1);
    assertEquals([readModelStatus(scene).status, changes(scene.proxy.records)], ["standby", aside]);
    await scene.clock.advance(1);
    assertEquals(readModelStatus(scene), { status: "active" });
    const back = [recoveryEvent(modelA, reason), recoveryEvent(fromB, reason)];
    assertEquals(changes(scene.proxy.records), [...aside, ...back]);
    assertEquals((await scene.ask()).text, "from a");
  });

  it("comes again every time", async () => {
    await using scene = await maintenance(at(18, 0));
    await scene.clock.advance(90 * minute);
    await scene.clock.advance(24 * 60 * minute);
    assertInStandby(scene, reason, 1200);
    assertEquals(changes(scene.proxy.records).length, 6);
  });

  const starts: readonly [when: string, hours: number, minutes: number, seconds: number | undefined][] = [
    ["a minute before", 19, 29, undefined],
    ["at its start", 19, 30, 1200],
    ["within", 19, 42, 480],
    ["at its end", 19, 50, undefined],
  ];
  for (const [when, hours, minutes, seconds] of starts) {
    it(`a process that starts ${when}: ${seconds === undefined ? "active" : `standby for ${seconds} s`}`, async () => {
      await using scene = await maintenance(at(hours, minutes));
      if (seconds === undefined) {
        assertEquals([readModelStatus(scene), changes(scene.proxy.records)], [{ status: "active" }, []]);
      } else {
        assertInStandby(scene, reason, seconds);
        assertEquals(changes(scene.proxy.records)[0], deactivationEvent(modelA, reason, seconds));
        await scene.clock.advance(seconds * 1000);
        assertEquals(changes(scene.proxy.records).at(-2), recoveryEvent(modelA, reason));
        assertEquals(readModelStatus(scene), { status: "active" });
      }
    });
  }

  it("lasts an hour unless said", async () => {
    const pool = { deactivation: { maintenance_window: "0 20 * * *" } };
    await using scene = await scenery({ a: fromA, b }, { now: at(20, 10), pool });
    assertInStandby(scene, reason, 50 * 60);
  });

  it("goes on after a shorter standby for another reason is over", async () => {
    const deactivation = { ...maintained, retry_limit: 1 };
    await using scene = await maintenance(at(19, 29), bad, { deactivation, recovery: { cooldown: "2m" } });
    await scene.ask();
    await scene.clock.advance(5 * minute);
    assertEquals(readModelStatus(scene).retryAt, "2026-01-01T19:50:00.000Z");
    assertEquals(readModelStatus(scene).reason, reason);
  });

  it("that an operator has ended for a model begins for it again at the next start, and no sooner", async () => {
    const deactivation = { ...maintained, maintenance_duration: "4h" };
    await using scene = await maintenance(at(19, 35), fromA, { deactivation });
    scene.proxy.mesh.activate("a");
    await scene.clock.advance(3 * 60 * minute); // the calendar is looked at in between
    assertEquals([readModelStatus(scene).status, readModelStatus(scene, "b").reason], ["active", reason]);
    await scene.clock.advance(21 * 60 * minute - 5 * minute);
    assertInStandby(scene, reason, 4 * 3600);
  });

  it("is not ended by a probe", async () => {
    const recovery = { probe_interval: "3m", cooldown: "2m" };
    await using scene = await maintenance(at(19, 35), probed(listed, fromA), { recovery });
    await scene.clock.advance(9 * minute);
    assertEquals([readModelStatus(scene).reason, scene.calls], [reason, { a: 0, b: 0 }]);
  });

  it("is not ended by a probe where a longer standby for another reason began before", async () => {
    const deactivation = { ...maintained, retry_limit: 1 };
    const recovery = { probe_interval: "5m", cooldown: "2h" };
    await using scene = await maintenance(at(19, 28), probed(listed, bad), { deactivation, recovery });
    await scene.ask();
    await probeAfter(scene, 5 * minute); // at 19:33
    assertEquals(readModelStatus(scene).status, "standby");
    await scene.clock.advance(17 * minute);
    assertEquals(readModelStatus(scene), { status: "active" });
  });
});

describe("counts without a window", () => {
  const usage = { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 };
  const rows = [["request_limit", 2], ["token_limit", 200], ["budget_limit", 2], ["request_limit", 1]] as const;
  for (const [key, value] of rows) {
    it(`${key} ${value}: go back to zero at each rest's end, and no rest is longer than the one before`, async () => {
      const pool = { deactivation: { [key]: value } };
      await using scene = await scenery({ a: ok({ usage, text: "from a" }), b }, { pool, model: dollar });
      const each = value === 1 ? 1 : 2;
      for (let turn = 0; turn < 4; turn++) {
        assertEquals((await scene.askTimes(each)).map(({ text }) => text), Array(each).fill("from a"));
        assertInStandby(scene, key, 60);
        await scene.clock.advance(minute);
        assertEquals(readModelStatus(scene), { status: "active" });
      }
    });
  }

  it("count in one pool alone", async () => {
    await using scene = await scenery({ a: fromA, b }, { pool: { deactivation: { request_limit: 1 } } });
    await scene.ask({ model: "other" });
    assertEquals(readModelStatus(scene), { status: "active" });
    await scene.ask();
    assertEquals(readModelStatus(scene, "a", "other"), { status: "active" });
    assertInStandby(scene, "request_limit", 60);
  });
});

describe("counts within a quota_window", () => {
  const pool = { deactivation: { request_limit: 3, quota_window: "daily" } };

  it("start anew with the window, spent or not", async () => {
    await using scene = await scenery({ a: fromA, b }, { pool });
    await scene.askTimes(2);
    await scene.clock.advance(6 * 3600_000);
    await scene.askTimes(2);
    assertEquals(readModelStatus(scene), { status: "active" });
    await scene.ask();
    assertInStandby(scene, "quota_window", 86_400);
  });

  it("end with the cooldown, not with the window, if resets are ignored", async () => {
    const recovery = { on_quota_reset: false, cooldown: "10h" };
    await using scene = await scenery({ a: fromA, b }, { pool: { ...pool, recovery } });
    await scene.askTimes(3);
    assertInStandby(scene, "quota_window", 36_000);
    await scene.clock.advance(7 * 3600_000); // a new day, and a new window
    assertEquals([readModelStatus(scene).reason, (await scene.ask()).text], ["quota_window", "from b"]);
    await scene.clock.advance(3 * 3600_000);
    assertEquals([readModelStatus(scene).status, (await scene.ask()).text], ["active", "from a"]);
  });

  it("are looked at again after each cooldown, if resets are ignored", async () => {
    const recovery = { on_quota_reset: false, cooldown: "90s" };
    await using scene = await scenery({ a: fromA, b }, { pool: { ...pool, recovery } });
    await scene.askTimes(3);
    assertInStandby(scene, "quota_window", 90);
    await scene.clock.advance(100_000);
    assertEquals([readModelStatus(scene).reason, (await scene.ask()).text], ["quota_window", "from b"]);
    await scene.clock.advance(6 * 3600_000);
    assertEquals([readModelStatus(scene).status, (await scene.ask()).text], ["active", "from a"]);
  });

  it("go on through a standby for another reason", async () => {
    const both = { deactivation: { ...pool.deactivation, retry_limit: 1 } };
    await using scene = await scenery({ a: [fromA, bad, fromA], b }, { pool: both });
    await scene.askTimes(2);
    assertInStandby(scene, "retry_limit", 60);
    await scene.clock.advance(minute);
    await scene.ask();
    assertInStandby(scene, "quota_window", 6 * 3600 - 60);
  });
});
