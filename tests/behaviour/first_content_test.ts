/** The limit of the first content of a stream: whose limit applies, what is content, and what becomes of a model. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, isOpen, soon, stage, type StageOptions } from "../support/_failover.ts";
import { fakeClock } from "../support/_library.ts";
import { until } from "../support/patience.ts";
import { hang, hangAfterHeaders, holdOpen, ok, stream } from "../support/upstream.ts";

const b = ok({ text: "from b" });
const fromB = stream({ pieces: ["from", " b"] });
const limited = (settings: object): StageOptions => ({ provider: { execution: settings } });

const role = 'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"a","choices":[' +
  '{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n';

describe("the limit of the first content", () => {
  const noRetry = { retry: { max_attempts: 0 } };
  const quiet = { proxy: { heartbeat: "0s" } };
  const header = (route: string) => ({ headers: { "content-type": "application/json", "x-mesh-route": route } });
  const provider = { execution: { first_token_timeout: "40s" } };
  const pool = { ...noRetry, first_token_timeout: "30s" };
  const limits: readonly (readonly [string, StageOptions, Record<string, unknown>, RequestInit, number])[] = [
    ["60 s unless configured", { pool: noRetry }, {}, {}, 60_000],
    ["300 s at a local server", { pool: noRetry, provider: { connector: "ollama.local.v1" } }, {}, {}, 300_000],
    ["execution.first_token_timeout", { pool: noRetry, provider }, {}, {}, 40_000],
    ["that of the pool rather than the provider's", { pool, provider }, {}, {}, 30_000],
    ["that of the request's header rather than the pool's", { pool }, {}, header("first_token=20s"), 20_000],
    [
      "that of mesh rather than the header's",
      { pool },
      { mesh: { first_token: "90s" } },
      header("first_token=20s"),
      90_000,
    ],
    [
      "execution.timeout where a provider is silent",
      { pool: noRetry, provider: { execution: { timeout: "15s" } } },
      {},
      {},
      15_000,
    ],
  ];
  for (const [name, options, body, init, ms] of limits) {
    it(`is ${name}: then the next model is asked`, async () => {
      await using scene = await stage({ a: hangAfterHeaders("text/event-stream"), b: fromB }, {
        config: quiet,
        ...options,
      });
      const answer = scene.askStream(body, init);
      const call = await scene.received("a");
      await isOpen(answer); // the head arrives
      await scene.clock.advance(ms - 1);
      assertEquals([await isOpen(answer), call.isClosed], [true, false]);
      const seen = await after(scene.clock, 1, answer);
      assertEquals([seen.text, seen.last, seen.route, scene.calls], ["from b", "done", "b 2/1", { a: 1, b: 1 }]);
      await soon(call.closed);
      assertEquals(scene.routing.rotation_reason, ms === 15_000 ? "timeout" : "first_token_timeout");
    });
  }

  for (
    const [what, text] of [["comments", ": thinking\n\n"], ["pings", "event: ping\ndata: {}\n\n"], ["the role", role]]
  ) {
    it(`is not met by ${what}`, async () => {
      const a = holdOpen();
      await using scene = await stage({ a, b: fromB }, { config: quiet, ...limited({ first_token_timeout: "25s" }) });
      const answer = scene.askStream();
      await scene.received("a");
      await isOpen(answer);
      for (let seconds = 5; seconds < 25; seconds += 5) {
        await scene.clock.advance(5_000);
        await a.send(text!);
        assertEquals(await isOpen(answer), true);
      }
      assertEquals((await after(scene.clock, 5_000, answer)).text, "from b");
      assertEquals([scene.calls, scene.routing.rotation_reason], [{ a: 1, b: 1 }, "first_token_timeout"]);
    });
  }

  it("ends with the first content: the stream may be silent for longer, up to its own limit", async () => {
    const a = stream({ cut: { after: 1, how: "hang" } });
    await using scene = await stage({ a, b: fromB }, limited({ first_token_timeout: "5s" }));
    const text = (await scene.proxy.chat({ stream: true })).text();
    await scene.clock.advance(59_999);
    assertEquals(await isOpen(text), true);
    assertMatch(await after(scene.clock, 1, text), /stream_interrupted/);
    assertEquals(scene.routing.fallback_chain.map(({ outcome }) => outcome), ["stream_interrupted"]);
  });

  it("above the silence between events, gives way to that after the first content", async () => {
    const a = stream({ cut: { after: 1, how: "hang" } });
    await using scene = await stage({ a }, limited({ first_token_timeout: "10m" }));
    const text = (await scene.proxy.chat({ stream: true })).text();
    assertEquals(await isOpen(text), true);
    assertMatch(await after(scene.clock, 60_000, text), /stream_interrupted/);
  });

  it("does not apply to a non-streaming response", async () => {
    await using scene = await stage({ a: hang(), b }, limited({ first_token_timeout: "5s" }));
    const answer = scene.ask({}, header("first_token=1s"));
    await scene.received("a");
    await scene.clock.advance(239_999);
    assertEquals(await isOpen(answer), true);
    assertEquals((await after(scene.clock, 1, answer)).text, "from b");
  });

  it("is named by the error, with its setting, when no model is left; the call may have been billed", async () => {
    for (
      const [options, init, setting] of [
        [limited({ first_token_timeout: "5s" }), {}, "execution.first_token_timeout"],
        [{ pool: { first_token_timeout: "5s" } }, {}, "first_token_timeout of the pool"],
        [{}, header("first_token=5s"), '"first_token" of the request'],
      ] as const
    ) {
      await using scene = await stage({ a: hangAfterHeaders("text/event-stream") }, {
        ...options,
        config: { proxy: { request_timeout: "9s" } },
      });
      const answer = scene.proxy.chat({ stream: true }, init);
      await scene.received("a");
      await isOpen(answer);
      const response = await after(scene.clock, 5_000, answer);
      const { error } = await response.json();
      assertEquals([response.status, error.code], [502, "all_attempts_failed"]);
      assertStringIncludes(error.message, `The provider sent no content within 5000 ms (${setting})`);
      assertMatch(error.message, /a \(first_token_timeout, 127\.0\.0\.1:\d+\)/);
      assertEquals([scene.routing.fallback_chain[0]!.outcome, scene.routing.possibly_billed], [
        "first_token_timeout",
        true,
      ]);
    }
  });

  it("does not stop heartbeats, which go on while the request rotates", async () => {
    const silent = hangAfterHeaders("text/event-stream");
    const options = { ...limited({ first_token_timeout: "20s" }), clock: fakeClock() };
    await using scene = await stage({ a: silent, b: silent, c: fromB }, options);
    const answer = scene.proxy.chat({ stream: true });
    await scene.received("a");
    await isOpen(answer);
    const response = await after(scene.clock, 10_000, answer);
    const text = response.text();
    await scene.clock.advance(10_000);
    await scene.received("b");
    await isOpen(text);
    await after(scene.clock, 20_000, scene.received("c"));
    assertEquals((await soon(text)).match(/: heartbeat\n\n|from|\[DONE\]/g), [
      ...Array(3).fill(": heartbeat\n\n"),
      "from",
      "[DONE]",
    ]);
    assertEquals(scene.calls, { a: 1, b: 1, c: 1 });
  });

  it("blames a model that had sent no content for ten seconds when the deadline passed, though it had sent a head", async () => {
    const options = { config: { proxy: { request_timeout: "10s" } }, pool: { deactivation: { retry_limit: 1 } } };
    await using scene = await stage({ a: hangAfterHeaders("text/event-stream"), b: fromB }, options);
    const answer = scene.proxy.chat({ stream: true });
    await scene.received("a");
    await isOpen(answer);
    const response = await after(scene.clock, 10_000, answer);
    await response.body?.cancel();
    assertEquals([response.status, scene.states().a], [504, "retry_limit for 60s"]);
  });

  it("ends with the client that leaves: nothing is counted, and nothing is left", async () => {
    await using scene = await stage({ a: hangAfterHeaders("text/event-stream"), b: fromB }, {
      ...limited({ first_token_timeout: "5s" }),
      pool: { deactivation: { retry_limit: 1 } },
    });
    const controller = new AbortController();
    const answer = scene.proxy.chat({ stream: true }, { signal: controller.signal }).catch((error: Error) =>
      error.name
    );
    const call = await scene.received("a");
    await isOpen(answer);
    controller.abort();
    assertEquals(await soon(answer), "AbortError");
    await soon(call.closed);
    await until(() => scene.clock.pending === 0);
    assertEquals([scene.calls, scene.states().a], [{ a: 1, b: 0 }, "active"]);
  });

  it("holds for concurrent requests of one tick alike", async () => {
    await using scene = await stage(
      { a: hangAfterHeaders("text/event-stream"), b: fromB },
      limited({ first_token_timeout: "5s" }),
    );
    const answers = Promise.all([scene.askStream(), scene.askStream(), scene.askStream()]);
    await scene.received("a", 3);
    await isOpen(answers);
    const seen = await after(scene.clock, 5_000, answers);
    assertEquals(seen.map(({ route }) => route), Array(3).fill("b 2/1"));
    assertEquals([scene.calls, scene.states().a], [{ a: 3, b: 3 }, "retry_limit for 60s"]);
  });

  it("bad values are refused, with the field", async () => {
    await using scene = await stage({ a: fromB });
    for (const route of ["first_token=5", "first_token=0s", "first_token=soon"]) {
      const seen = await scene.ask({}, header(route));
      assertEquals([seen.status, seen.error?.code, seen.error?.param], [400, "invalid_value", "x-mesh-route"]);
    }
    const seen = await scene.ask({ mesh: { first_token: 5 } });
    assertEquals([seen.status, seen.error?.param], [400, "mesh.first_token"]);
  });
});
