/** The time a request has: tries, waits and failovers share it, and no call outlives it. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createHandler } from "../../proxy.ts";
import { ModelMesh } from "../../mod.ts";
import { after, eveningClock, isOpen, severalModels, soon, stage, type StageOptions } from "../support/_failover.ts";
import { until } from "../support/patience.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { testConfig } from "../support/proxy.ts";
import { hang, ok, startUpstream, status, stream } from "../support/upstream.ts";

const b = ok({ text: "from b" });
const deadline = (time: string, more: object = {}): StageOptions => ({
  config: { proxy: { request_timeout: time } },
  ...more,
});
const patience = (seconds: string) => ({
  headers: { "content-type": "application/json", "x-stainless-timeout": seconds },
});

describe("the deadline of a request", () => {
  it("is 504 timeout; the call ends, no other model is asked, and no failure is counted", async () => {
    await using scene = await stage({ a: hang(), b }, deadline("9s", { pool: { deactivation: { retry_limit: 1 } } }));
    const answer = scene.ask();
    const call = await scene.received("a");
    await scene.clock.advance(8_999);
    assertEquals([await isOpen(answer), call.isClosed], [true, false]);
    const seen = await after(scene.clock, 1, answer);
    assertEquals([seen.status, seen.error?.type, seen.error?.code], [504, "server_error", "timeout"]);
    assertEquals([seen.headers.get("x-mesh-model"), seen.headers.get("x-mesh-attempts")], ["a", "1"]);
    await soon(call.closed);
    assertEquals([scene.calls, scene.states()], [{ a: 1, b: 0 }, { a: "active", b: "active" }]);
    assertEquals(scene.routing.possibly_billed, true);
    assertEquals(scene.clock.pending, 0);
  });

  it("blames a model that gave no sign of life for ten seconds: the next request goes elsewhere", async () => {
    await using scene = await stage({ a: hang(), b }, deadline("10s", { pool: { deactivation: { retry_limit: 1 } } }));
    const answer = scene.ask();
    await scene.received("a");
    assertEquals((await after(scene.clock, 10_000, answer)).status, 504);
    assertEquals(scene.states(), { a: "retry_limit for 60s", b: "active" });
    assertEquals((await scene.ask()).headers.get("x-mesh-model"), "b");
  });

  it("is 600 s unless configured", async () => {
    await using scene = await stage({ a: hang() }, { provider: { execution: { timeout: "1h" } } });
    const answer = scene.ask();
    await scene.received("a");
    await scene.clock.advance(599_999);
    assertEquals(await isOpen(answer), true);
    assertEquals((await after(scene.clock, 1, answer)).status, 504);
  });

  const clients: readonly [name: string, seconds: string, ms: number][] = [
    ["the client's own patience, where that is less", "5", 5_000],
    ["the client's fractions of a second", "0.25", 250],
    ["the proxy's, where the client has more patience", "90", 30_000],
    ["the proxy's, where the client's makes no sense", "soon", 30_000],
    ["the proxy's, where the client's is negative", "-1", 30_000],
    ["the proxy's, where the client's is 0", "0", 30_000],
  ];
  for (const [name, seconds, ms] of clients) {
    it(`is ${name}: ${ms} ms`, async () => {
      await using scene = await stage({ a: hang(), b }, deadline("30s"));
      const answer = scene.ask({}, patience(seconds));
      const call = await scene.received("a");
      await scene.clock.advance(ms - 1);
      assertEquals(await isOpen(answer), true);
      assertEquals((await after(scene.clock, 1, answer)).status, 504);
      await soon(call.closed);
    });
  }

  it("covers all tries: the last provider has what the others left", async () => {
    const options = deadline("30s", { provider: { execution: { timeout: "20s" } } });
    await using scene = await stage({ a: hang(), b: hang() }, options);
    const answer = scene.ask();
    await scene.received("a");
    await scene.clock.advance(20_000); // no time for two more such waits: b is asked
    const call = await scene.received("b");
    await scene.clock.advance(9_999);
    assertEquals(await isOpen(answer), true);
    assertEquals((await after(scene.clock, 1, answer)).status, 504);
    await soon(call.closed);
    assertEquals(scene.calls, { a: 1, b: 1 });
    assertEquals(scene.routing.fallback_chain.map(({ model, ms }) => [model, ms]), [["a", 20_000], ["b", 10_000]]);
  });

  it("is not waited away: where a retry's wait would reach it, the next model is asked at once", async () => {
    await using scene = await stage({ a: status(500), b }, deadline("250ms"));
    assertEquals([(await scene.ask()).text, scene.clock.sleeps, scene.calls], ["from b", [], { a: 1, b: 1 }]);
  });

  it("is not waited away, either, when there is no other model: the failure is reported at once", async () => {
    await using scene = await stage({ a: status(500) }, deadline("700ms"));
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error?.code, scene.clock.sleeps], [502, "all_attempts_failed", [250]]);
    assertEquals(scene.calls, { a: 2 });
  });

  it("is not waited away for a hint: the client gets the hint instead", async () => {
    await using scene = await stage({ a: status(429, { headers: { "retry-after": "9" } }) }, deadline("5s"));
    const seen = await scene.ask();
    assertEquals([seen.status, seen.headers.get("retry-after"), scene.clock.sleeps], [429, "9", []]);
  });

  it("ends with the first content of a stream: the rest may take its time", async () => {
    await using scene = await stage({ a: stream({ cut: { after: 1, how: "hang" } }) }, deadline("10s"));
    const response = await scene.proxy.chat({ stream: true });
    const text = response.text();
    assertEquals(await isOpen(text), true);
    await scene.clock.advance(59_999);
    assertEquals(await isOpen(text), true);
    assertMatch(await after(scene.clock, 1, text), /stream_interrupted/);
  });

  it("holds up to the first content of a stream: then it is 504, not a stream", async () => {
    await using scene = await stage({ a: stream({ cut: { after: 0, how: "hang" } }), b }, deadline("10s"));
    const answer = scene.proxy.chat({ stream: true });
    const call = await scene.received("a");
    assertEquals(await isOpen(answer), true);
    const response = await after(scene.clock, 10_000, answer);
    assertEquals([response.status, (await response.json()).error.code], [504, "timeout"]);
    await soon(call.closed);
    assertEquals(scene.calls, { a: 1, b: 0 });
  });
});

describe("a wait before a retry", () => {
  it("ends with the client that leaves: no further call is made", async () => {
    const clock = fakeClock(); // one that waits
    await using scene = await stage({ a: status(500), b }, { clock });
    const controller = new AbortController();
    const answer = scene.ask({}, { signal: controller.signal }).catch((error: Error) => error.name);
    await scene.received("a");
    await until(() => clock.sleeps.length > 0);
    controller.abort();
    assertEquals(await soon(answer), "AbortError");
    await until(() => clock.pending === 0);
    await clock.advance(60_000);
    assertEquals([scene.calls, scene.states().a], [{ a: 1, b: 0 }, "active"]);
  });
});

describe("a call that never left", () => {
  /** A proxy whose HTTP client is refused for its first calls to a provider. */
  async function refusedAtFirst(times: number, upstreams: Readonly<Record<string, string>>) {
    const clock = eveningClock();
    let refusals = 0;
    const fetcher = (...call: Parameters<typeof fetch>): Promise<Response> => {
      if (refusals === times || !String(call[0]).startsWith(upstreams.a!)) return fetch(...call);
      refusals++;
      const cause =
        "error sending request: client error (Connect): tcp connect error: Connection refused (os error 111)";
      return Promise.reject(new TypeError(cause));
    };
    const mesh = new ModelMesh({ clock, fetch: fetcher as typeof fetch, random: () => 0.5 });
    await mesh.initialize(testConfig({ upstreams }));
    const request = new Request("http://127.0.0.1/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    const response = await createHandler(mesh)(request);
    await response.body?.cancel();
    await mesh.close();
    return { model: response.headers.get("x-mesh-model"), sleeps: clock.sleeps, refusals };
  }

  for (const [times, model] of [[1, "a"], [2, "b"]] as const) {
    it(`${times === 1 ? "is repeated once, at once and for free" : "twice is a failure"}`, async () => {
      await using first = await startUpstream(ok());
      await using second = await startUpstream(ok());
      const seen = await refusedAtFirst(times, { a: first.url, b: second.url });
      assertEquals(seen, { model, sleeps: [], refusals: times });
      assertEquals([first.calls, second.calls], model === "a" ? [1, 0] : [0, 1]);
    });
  }
});

describe("a wait before a retry", () => {
  it("ends elsewhere when the model was deactivated meanwhile", async () => {
    const pool = {
      retry: { max_attempts: 2, backoff: "fixed", initial_delay: "5s" },
      deactivation: { retry_limit: 1 },
    };
    await using scene = await stage({ a: [status(500), status(401)], b }, { pool, clock: fakeClock() });
    const waiting = scene.ask();
    await scene.received("a");
    await until(() => scene.clock.sleeps.length === 1);
    assertEquals((await scene.ask()).text, "from b"); // the key is refused: the model is in standby
    assertEquals((await after(scene.clock, 5_000, waiting)).text, "from b");
    assertEquals(scene.calls, { a: 2, b: 2 });
  });
});

describe("possibly_billed", () => {
  it("is reported of a call that was sent and never answered, whichever model served in the end", async () => {
    await using scene = await stage({ a: hang(), b }, severalModels({ a: "a", b: "b" }));
    const answer = scene.ask();
    await scene.received("a");
    assertEquals((await after(scene.clock, 240_000, answer)).text, "from b");
    assertEquals(scene.routing.possibly_billed, true);
  });

  it("is not reported of one that was answered", async () => {
    await using scene = await stage({ a: status(500), b });
    await scene.ask();
    assertEquals("possibly_billed" in scene.routing, false);
  });
});
