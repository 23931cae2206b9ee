/**
 * A provider says 200 and then nothing of use, or says nothing at all: connections that break, answers that never
 * come, bodies that are none.
 */
import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { brokenResponses } from "../../support/_broken_responses.ts";
import { tripped } from "../../support/_failing_statuses.ts";
import { after, isOpen, refusing, type Seen, soon, stage } from "../../support/_failover.ts";
import { type Behaviour, hang, hangAfterHeaders, ok, raw, type Script } from "../../support/upstream.ts";

const oneOutcome = { deactivation: { retry_limit: 1 } };

describe("one provider gives nothing of use, another is up", () => {
  for (const { name, behaviour, outcome, calls = 3, state = tripped, billed } of brokenResponses) {
    it(`${name}: the other one answers`, async () => {
      await using scene = await stage({ a: behaviour, b: ok({ text: "from b" }) }, { pool: oneOutcome });
      const seen = await scene.ask();
      assertEquals([seen.status, seen.text, seen.route], [200, "from b", `b ${calls + 1}/1`]);
      assertEquals(scene.calls, { a: calls, b: 1 });
      assertEquals(scene.states(), { a: state, b: "active" });
      assertEquals(scene.events.at(-1), `rotation a>b ${outcome}`);
      assertEquals(scene.routing.possibly_billed, billed);
    });
  }
});

describe("the only provider gives nothing of use", () => {
  for (const { name, behaviour, calls = 3, state = tripped, alone = "502 all_attempts_failed" } of brokenResponses) {
    it(`${name}: ${alone}`, async () => {
      await using scene = await stage({ a: behaviour }, { pool: oneOutcome });
      const seen = await scene.ask();
      assertFailed(seen, alone);
      assertEquals([scene.calls, scene.states(), seen.route], [{ a: calls }, { a: state }, `a ${calls}/1`]);
    });
  }
});

describe("a provider on whose port no server listens", () => {
  it("is left at once for another", async () => {
    await using scene = await stage({ a: refusing, b: ok({ text: "from b" }) }, { pool: oneOutcome });
    const seen = await scene.ask();
    assertEquals([seen.text, scene.clock.sleeps, scene.calls], ["from b", [], { b: 1 }]);
    assertEquals(scene.states(), { a: tripped, b: "active" });
    assertEquals(scene.events, ["deactivation a retry_limit", "rotation a>b network"]);
    assertEquals(scene.routing.possibly_billed, undefined);
  });

  it("and there is no other model: tried again after a wait, then 502", async () => {
    await using scene = await stage({ a: refusing }, { pool: oneOutcome });
    assertFailed(await scene.ask(), "502 all_attempts_failed");
    assertEquals([scene.clock.sleeps, scene.states()], [[250, 500], { a: tripped }]);
    assertEquals(scene.routing.possibly_billed, undefined);
  });
});

describe("a provider that never answers", () => {
  const silences: readonly [name: string, behaviour: Behaviour][] = [
    ["not a byte", hang()],
    ["the head and no more", hangAfterHeaders()],
    ["half a body", raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"id', "hang")],
  ];
  for (const [name, behaviour] of silences) {
    it(`${name}: after execution.timeout, not a ms before, the other one answers`, async () => {
      const options = { pool: oneOutcome, provider: { execution: { timeout: "301s" } } };
      await using scene = await stage({ a: behaviour, b: ok({ text: "from b" }) }, options);
      const answer = scene.ask();
      const call = await scene.received("a");
      await scene.clock.advance(300_999);
      assertEquals([await isOpen(answer), call.isClosed], [true, false]);
      const seen = await after(scene.clock, 1, answer);
      assertEquals([seen.text, seen.route], ["from b", "b 2/1"]);
      await soon(call.closed); // the call was given up, not left behind
      assertEquals(scene.states(), { a: tripped, b: "active" });
      assertEquals(scene.events.at(-1), "rotation a>b timeout");
    });
  }

  it("the limit is 240 s unless configured", async () => {
    await using scene = await stage({ a: hang(), b: ok({ text: "from b" }) });
    const answer = scene.ask();
    await scene.received("a");
    await scene.clock.advance(239_999);
    assertEquals(await isOpen(answer), true);
    assertEquals((await after(scene.clock, 1, answer)).text, "from b");
    assertEquals([scene.calls, scene.routing.possibly_billed], [{ a: 1, b: 1 }, true]);
  });

  it("is not asked again while another one is active, however long the deadline is", async () => {
    const options = { pool: oneOutcome, provider: { execution: { timeout: "10s" } } };
    const script: Script = [hang(), ok({ text: "from a, late" })];
    await using scene = await stage({ a: script, b: ok({ text: "from b" }) }, options);
    const answer = scene.ask();
    await scene.received("a");
    const seen = await after(scene.clock, 10_000, answer);
    assertEquals([seen.text, scene.calls, scene.states().a], ["from b", { a: 1, b: 1 }, tripped]);
  });

  it("and is alone is asked again all the same, then 502", async () => {
    const options = { pool: oneOutcome, provider: { execution: { timeout: "150s" } } };
    await using scene = await stage({ a: hang() }, options);
    const answer = scene.ask();
    for (const number of [1, 2, 3]) {
      await scene.received("a", number);
      await scene.clock.advance(150_000);
    }
    assertFailed(await soon(answer), "502 all_attempts_failed");
    assertMatch((await answer).error!.message, /\ba \(timeout, 127\.0\.0\.1:\d+\)/);
    assertEquals([scene.calls, scene.states()], [{ a: 3 }, { a: tripped }]);
  });
});

function assertFailed(seen: Seen, row: string): void {
  assertEquals(`${seen.status} ${seen.error?.code}`, row);
  assertNotMatch(seen.error!.message, /Scripted|Sign in|html|key-of-a|http:/);
  if (seen.status === 502) {
    assertMatch(seen.error!.message, /\ba \(/);
    const isPassing = /\ba \((network|timeout)/.test(seen.error!.message);
    assertEquals(seen.headers.get("x-should-retry"), isPassing ? null : "false");
  }
}
