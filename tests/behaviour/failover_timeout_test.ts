/** A provider that is silent costs one limit: the request goes to the next model, and only the last one is tried again. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, isOpen, stage, type StageOptions } from "../support/_failover.ts";
import { hang, ok, stream } from "../support/upstream.ts";

const b = ok({ text: "from b" });
const fromB = stream({ pieces: ["from", " b"] });
const limited = (settings: object): StageOptions => ({ provider: { execution: settings } });

describe("a provider that is silent", () => {
  it("is asked once while another model is active, whatever is left of the deadline and of its retries", async () => {
    await using scene = await stage({ a: hang(), b }, limited({ timeout: "20s", max_retries: 3 }));
    const answer = scene.ask();
    await scene.received("a");
    await scene.clock.advance(19_999);
    assertEquals(await isOpen(answer), true);
    const seen = await after(scene.clock, 1, answer);
    assertEquals([seen.text, seen.route, scene.clock.sleeps], ["from b", "b 2/1", []]);
    assertEquals([scene.calls, scene.routing.rotation_reason], [{ a: 1, b: 1 }, "timeout"]);
  });

  it("is tried again if it is the last one, as long as the deadline covers another limit", async () => {
    const options = { ...limited({ timeout: "20s" }), config: { proxy: { request_timeout: "65s" } } };
    await using scene = await stage({ a: hang(), b: hang() }, options);
    const answer = scene.ask();
    await scene.received("a");
    await scene.clock.advance(20_000);
    await scene.received("b");
    await scene.clock.advance(20_000);
    await scene.received("b", 2);
    const seen = await after(scene.clock, 20_000, answer);
    // a third one would have had 5 s: the failure is reported at once
    assertEquals([seen.status, seen.error?.code, scene.calls], [502, "all_attempts_failed", { a: 1, b: 2 }]);
  });

  it("is left for a model that became active while it was silent", async () => {
    await using scene = await stage({ a: hang(), b }, limited({ timeout: "20s" }));
    await scene.proxy.mesh.deactivate("b");
    const answer = scene.ask();
    await scene.received("a");
    await scene.proxy.mesh.activate("b");
    assertEquals((await after(scene.clock, 20_000, answer)).text, "from b");
    assertEquals(scene.calls, { a: 1, b: 1 });
  });

  it("costs no retry of its provider's budget, and one failure", async () => {
    const settings = { execution: { timeout: "20s" }, retry: { budget: { ratio: 0, min: 1, window: "1h" } } };
    await using scene = await stage({ a: hang(), b }, {
      provider: settings,
      pool: { deactivation: { retry_limit: 3 } },
    });
    for (let times = 1; times <= 3; times++) {
      assertEquals(scene.states().a, "active");
      const answer = scene.ask();
      await scene.received("a", times);
      await after(scene.clock, 20_000, answer);
    }
    assertEquals([scene.states().a, scene.calls.a], ["retry_limit for 60s", 3]);
  });

  it("is an outage after five calls in a row, each counted once", async () => {
    const pool = { provider_deactivation: ["on_api_outage"], deactivation: { retry_limit: 9 } };
    await using scene = await stage({ a: hang(), b: fromB }, { ...limited({ first_token_timeout: "5s" }), pool });
    for (let times = 1; times <= 5; times++) {
      assertEquals(scene.states().a, "active");
      const answer = scene.askStream();
      await scene.received("a", times);
      await isOpen(answer);
      await after(scene.clock, 5_000, answer);
    }
    assertEquals(scene.states().a, "provider_outage for 60s");
  });
});
