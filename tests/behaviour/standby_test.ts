/** When a model goes into standby for its failures, and how it recovers. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { MeshEvent } from "../../mod.ts";
import { behind, breathe, soon, type Stage, stage } from "../support/_failover.ts";
import { Gate, hang, ok, type Script, status, stream } from "../support/upstream.ts";

const b = ok({ text: "from b" });
const noRetry = { retry: { max_attempts: 0 } };
const oneOutcome = { pool: { ...noRetry, deactivation: { retry_limit: 1 } } };
const inStandby = "retry_limit for 60s";

describe("a model that fails", () => {
  it("goes into standby after three requests, however often each tried it", async () => {
    await using scene = await stage({ a: status(500), b });
    await scene.askTimes(2);
    assertEquals([scene.calls, scene.states()], [{ a: 6, b: 2 }, { a: "active", b: "active" }]);
    await scene.ask();
    assertEquals([scene.calls, scene.states()], [{ a: 9, b: 3 }, { a: inStandby, b: "active" }]);
    assertEquals((await scene.ask()).route, "b 1/0");
    assertEquals(scene.calls, { a: 9, b: 4 });
    const rotations = Array(2).fill("rotation a>b server");
    assertEquals(scene.events, [...rotations, "deactivation a retry_limit", "rotation a>b server"]);
  });

  it("goes into standby after retry_limit requests where one is configured", async () => {
    await using scene = await stage({ a: status(500), b }, { pool: { ...noRetry, deactivation: { retry_limit: 5 } } });
    await scene.askTimes(4);
    assertEquals(scene.states().a, "active");
    await scene.ask();
    assertEquals(scene.states().a, inStandby);
  });

  it("stays active while a success comes in between", async () => {
    const bad = status(500);
    const script = [bad, bad, ok(), bad, bad, ok(), bad, bad, bad];
    await using scene = await stage({ a: script, b }, { pool: noRetry });
    await scene.askTimes(8);
    assertEquals(scene.states().a, "active");
    await scene.ask();
    assertEquals(scene.states().a, inStandby);
  });

  it("counts one failure per request, of requests at once too", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, status(500)), b }, { pool: noRetry });
    const answers = Array.from({ length: 3 }, () => scene.ask());
    await scene.received("a", 3);
    gate.open(2);
    await soon(Promise.race(answers));
    await breathe();
    assertEquals(scene.states().a, "active");
    gate.open();
    assertEquals((await Promise.all(answers)).map(({ text }) => text), Array(3).fill("from b"));
    assertEquals(scene.states().a, inStandby);
  });

  it("emits of its standby whose it is, why, and for how long", async () => {
    await using scene = await stage({ a: status(500), b }, {
      pool: { ...oneOutcome.pool, recovery: { cooldown: "90s" } },
    });
    await scene.ask();
    const { id, timestamp, ...event } = scene.proxy.records[0] as MeshEvent;
    assertMatch(id, /^[0-9a-f-]{36}$/);
    assertEquals(timestamp, "2026-01-01T18:00:00.000Z");
    assertEquals<unknown>(event, {
      type: "event",
      event: "deactivation",
      pool: "chat",
      model: "a",
      provider: "a",
      from: "active",
      to: "standby",
      reason: "retry_limit",
      metadata: { standby_ms: 90_000 },
    });
    const [model] = scene.proxy.mesh.poolStatus().chat!.models;
    assertEquals(model, {
      name: "a",
      provider: "a",
      status: "standby",
      reason: "retry_limit",
      since: "2026-01-01T18:00:00.000Z",
      retryAt: "2026-01-01T18:01:30.000Z",
    });
  });

  it("is shown by /health and by the list of models", async () => {
    await using scene = await stage({ a: status(500), b: status(500) }, oneOutcome);
    const look = async (path: string) => await (await fetch(`${scene.proxy.url}${path}`)).json();
    await scene.ask();
    assertEquals((await look("/health")).status, "unavailable");
    assertEquals((await look("/v1/models")).data[0].mesh.standby, 2);
    await scene.clock.advance(60_000);
    assertEquals((await look("/health")).status, "ok");
  });
});

describe("what counts neither as failure nor as success", () => {
  /** Two failures, then something, then one more failure: three in a row exactly if the something is neither. */
  async function between(script: Script, something: (scene: Stage) => Promise<void>, pool: object = {}): Promise<void> {
    await using scene = await stage({ a: script, b }, { pool: { ...noRetry, ...pool } });
    await scene.askTimes(2);
    await something(scene);
    assertEquals(scene.states().a, "active");
    await scene.ask();
    assertEquals(scene.states().a, inStandby);
  }
  const bad = status(500);

  it("a request whose client leaves before the response", async () => {
    await between([bad, bad, hang(), bad], async (scene) => {
      const controller = new AbortController();
      const answer = scene.ask({}, { signal: controller.signal }).catch((error: Error) => error.name);
      const call = await scene.received("a", 3);
      controller.abort();
      assertEquals(await answer, "AbortError");
      await soon(call.closed);
      await breathe();
      assertEquals(scene.calls, { a: 3, b: 2 });
    });
  });

  it("a stream whose client leaves in the middle", async () => {
    await between([bad, bad, stream({ cut: { after: 1, how: "hang" } }), bad], async (scene) => {
      const response = await scene.proxy.chat({ stream: true });
      await response.body!.cancel();
      await soon((await scene.received("a", 3)).closed);
      await breathe();
    });
  });

  it("a request whose client has no more patience", async () => {
    await between([bad, bad, hang(), bad], async (scene) => {
      const answer = scene.ask({}, { headers: { "content-type": "application/json", "x-stainless-timeout": "5" } });
      await scene.received("a", 3);
      await scene.clock.advance(5_000);
      assertEquals((await answer).status, 504);
    });
  });

  it("a fault of the request", async () => {
    await between([bad, bad, status(400), bad], async (scene) => assertEquals((await scene.ask()).text, "from b"));
  });

  it("a response with nothing in it", async () => {
    await between([bad, bad, ok({ text: "" }), bad], async (scene) => assertEquals((await scene.ask()).text, "from b"));
  });
});

describe("deactivation.error_codes", () => {
  const pool = { ...noRetry, deactivation: { error_codes: [400, 422] } };

  it("makes faults of the request count, with a reason of their own", async () => {
    await using scene = await stage({ a: [status(400), status(422), status(400)], b }, { pool });
    await scene.askTimes(2);
    assertEquals(scene.states().a, "active");
    await scene.ask();
    assertEquals(scene.states(), { a: "error_code for 60s", b: "active" });
    assertEquals(scene.events.at(-2), "deactivation a error_code");
  });

  it("leaves to the client what the provider said", async () => {
    await using scene = await stage({ a: status(400, { error: { message: "Too long" } }) }, { pool });
    for (const seen of await scene.askTimes(3)) assertEquals([seen.status, seen.error?.message], [400, "Too long"]);
    assertEquals(scene.states().a, "error_code for 60s");
    assertEquals([(await scene.ask()).status, scene.calls], [503, { a: 3 }]);
  });

  it("beside a hint: the model is in standby for both reasons, and the longer one is reported", async () => {
    for (const [hint, rest] of [["90", "rate_limited for 90s"], ["30", "error_code for 60s"]] as const) {
      const both = { ...noRetry, deactivation: { error_codes: [429], retry_limit: 1 } };
      await using scene = await stage({ a: status(429, { headers: { "retry-after": hint } }), b }, { pool: both });
      await scene.ask();
      assertEquals(scene.states().a, rest);
      assertEquals(scene.events.slice(0, 2), ["deactivation a error_code", "deactivation a rate_limited"]);
    }
  });

  it("leaves other codes as they are", async () => {
    await using scene = await stage({ a: [status(413), status(413), status(413), status(500)], b }, { pool });
    await scene.askTimes(3);
    assertEquals(scene.states().a, "active");
    scene.upstreams.a!.follow(status(500));
    await scene.askTimes(3);
    assertEquals(scene.states().a, inStandby);
  });
});

describe("when no candidate is left", () => {
  it("503 no_active_model names the standbys and the soonest recovery; no provider is called", async () => {
    await using scene = await stage({ a: status(500), b: status(500) }, oneOutcome);
    await scene.ask();
    await scene.clock.advance(20_500);
    const { status: code, error, headers, route } = await scene.ask();
    assertEquals([code, error!.type, error!.code, route], [503, "server_error", "no_active_model", "null 0/0"]);
    assertMatch(error!.message, /a \(retry_limit\), b \(retry_limit\)/);
    const wait = ["retry-after", "retry-after-ms", "x-should-retry"].map((name) => headers.get(name));
    assertEquals([wait, scene.calls], [["40", "39500", null], { a: 1, b: 1 }]);
  });

  it("the soonest of several recoveries counts", async () => {
    await using scene = await stage({ a: status(500), b: [ok(), status(500)] }, oneOutcome);
    await scene.ask();
    await scene.clock.advance(30_000);
    await scene.ask();
    assertEquals(scene.states(), { a: "retry_limit for 30s", b: inStandby });
    assertEquals((await scene.ask()).headers.get("retry-after-ms"), "30000");
  });

  it("beyond a minute another try is useless", async () => {
    await using scene = await stage({ a: status(500) }, {
      pool: { ...oneOutcome.pool, recovery: { cooldown: "61s" } },
    });
    await scene.ask();
    const { status: code, headers } = await scene.ask();
    assertEquals([code, headers.get("retry-after"), headers.get("x-should-retry")], [503, "61", "false"]);
  });

  it("a stream is refused in the same way", async () => {
    await using scene = await stage({ a: status(500) }, oneOutcome);
    await scene.ask();
    const response = await scene.proxy.chat({ stream: true });
    assertEquals([response.status, (await response.json()).error.code], [503, "no_active_model"]);
  });
});

describe("a recovery", () => {
  it("comes by the timer, to the millisecond, whether or not anybody asks", async () => {
    await using scene = await stage({ a: status(500), b }, oneOutcome);
    await scene.ask();
    await scene.clock.advance(59_999);
    assertEquals(scene.events.at(-1), "rotation a>b server");
    await scene.clock.advance(1);
    assertEquals(scene.events.at(-1), "recovery a retry_limit");
    assertEquals(scene.states().a, "active");
  });

  it("of several, each in its time", async () => {
    await using scene = await stage({ a: status(500), b: [ok(), status(500), ok()] }, oneOutcome);
    await scene.ask();
    await scene.clock.advance(25_000);
    await scene.ask();
    const from = scene.events.length;
    await scene.clock.advance(35_000);
    assertEquals(scene.events.slice(from), ["recovery a retry_limit"]);
    await scene.clock.advance(25_000);
    assertEquals(scene.events.slice(from), ["recovery a retry_limit", "recovery b retry_limit"]);
    const { pending } = scene.clock;
    assertEquals(pending, 0); // nothing is armed while no model is in standby
  });

  it("comes when its time has passed, whatever the wall clock is set to meanwhile", async () => {
    for (const jump of [86_400_000, -86_400_000]) {
      await using scene = await stage({ a: status(500), b }, oneOutcome);
      await scene.ask();
      scene.clock.jumpWallTime(jump);
      assertEquals(scene.states().a, inStandby);
      await scene.clock.advance(59_999);
      assertEquals((await scene.ask()).headers.get("x-mesh-attempts"), "1");
      assertEquals(scene.states().a, "retry_limit for 0.001s");
      await scene.clock.advance(1);
      assertEquals(scene.states().a, "active");
    }
  });

  it("is not emitted by a mesh that is closed, and delays no request", async () => {
    const scene = await stage({ a: status(500), b }, oneOutcome);
    await scene.ask();
    await scene[Symbol.asyncDispose]();
    assertEquals(scene.clock.pending, 0);
    await scene.clock.advance(60_000);
    assertEquals(scene.events.at(-1), "rotation a>b server");
  });
});
